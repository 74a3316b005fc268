"""Direct collocation: nonlinear functions at points, linear relations between points. It contains no
mechanics.

    c(z) = A z + B F(z),     f(z) = a.z + b.F(z),     F = (F_1(y_1, d_1), F_2(y_2, d_2), ...)              (1)
    Jacobian = A + B blkdiag(J_i),     Hessian of sigma f + lambda.c = sum_i Hess(mu_i.F_i),
        mu = B' lambda + sigma b                                                                           (2)

schemes          points of an interval and equations of a scheme
intervals        points of all intervals; interpolation; the error between points, and finer meshes
point_functions  F, its Jacobian and its Hessian as machine code for all points at once
terms            parts of F that each depend on few of the variables
assembly         (1) and (2) as constant sparse matrices around the values at points

y_i is a subset of all unknowns z, given by indices; d_i are numbers. All points share duration and parameters
as unknowns.
"""
