"""Direct collocation: all that is nonlinear happens at points, all else is linear. It knows no mechanics.

    c(z) = A z + B F(z),     f(z) = a.z + b.F(z),     F = (F_1(y_1, d_1), F_2(y_2, d_2), ...)              (1)
    Jacobian = A + B blkdiag(J_i),     Hessian of sigma f + lambda.c = sum_i Hess(mu_i.F_i),
        mu = B' lambda + sigma b                                                                           (2)

schemes          where the points of an interval are, and what a scheme asks of them
intervals        points of all intervals; curves through them; the error between them, and finer meshes
point_functions  F, its Jacobian and its Hessian as machine code for all points at once
terms            parts of F that each read few of the variables
assembly         (1) and (2) as constant sparse matrices around the values at points

What y_i is of all unknowns z is an index; d_i are numbers. Duration and parameters are unknowns that all
points share.
"""
