"""Unit quaternions (w, x, y, z) = (cos(angle/2), axis sin(angle/2)); q and -q are the same rotation.

Numbers, batched by leading dimensions, or CasADi SX.
"""

from __future__ import annotations

from condyle.spatial.algebra import (
    Value,
    as_matrix,
    as_vector,
    entries,
    entry,
    is_symbolic,
    matrix,
    sqrt,
    traceable,
    transpose,
    vector,
    where,
)


@traceable
def rotation_from_quaternion(q: Value) -> Value:
    """R_FM of the unit quaternion of M in F.

    This is the short formula for unit quaternions, R = 1 + 2 w [v]x + 2 [v]x^2: the caller normalizes q. If
    |q|^2 is 1 + d instead, R is no rotation but off by about d.

    Args:
        q: unit quaternion (w, x, y, z), shape (..., 4).

    Returns:
        shape (..., 3, 3).
    """
    w, x, y, z = entries(as_vector(q, 4, "rotation_from_quaternion"))
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return matrix(
        [
            [1 - (yy + zz), xy - wz, xz + wy],
            [xy + wz, 1 - (xx + zz), yz - wx],
            [xz - wy, yz + wx, 1 - (xx + yy)],
        ]
    )


@traceable
def quaternion_from_rotation(R: Value) -> Value:
    """The unit quaternion of a rotation with w >= 0, or w = 0 and its largest component positive.

    All entries of 4 q q' are sums of entries of R. Its row with the largest diagonal entry, at least 1, is a
    multiple of q without cancellation (Shepperd 1978). If R is not quite a rotation, q is still a unit
    quaternion.

    Args:
        R: rotation, shape (..., 3, 3).

    Returns:
        (w, x, y, z), shape (..., 4).
    """
    R = as_matrix(R, 3, "quaternion_from_rotation")
    xx, xy, xz, yx, yy, yz, zx, zy, zz = (entry(R, i, j) for i in range(3) for j in range(3))
    rows = [
        [1 + xx + yy + zz, zy - yz, xz - zx, yx - xy],
        [zy - yz, 1 + xx - yy - zz, xy + yx, xz + zx],
        [xz - zx, xy + yx, 1 - xx + yy - zz, yz + zy],
        [yx - xy, xz + zx, yz + zy, 1 - xx - yy + zz],
    ]
    best, largest = rows[0], rows[0][0]
    for i in (1, 2, 3):
        better = rows[i][i] > largest
        best = [where(better, a, b) for a, b in zip(rows[i], best, strict=True)]
        largest = where(better, rows[i][i], largest)
    w, x, y, z = best
    length = sqrt(w * w + x * x + y * y + z * z)
    length = where(w < 0, -length, length)
    return vector([w / length, x / length, y / length, z / length])


@traceable
def quaternion_multiply(a: Value, b: Value) -> Value:
    """The product a b: rotation b first, then a, as in R(a b) = R(a) R(b); shape (..., 4)."""
    symbolic = is_symbolic(a, b)
    aw, ax, ay, az = entries(as_vector(a, 4, "quaternion_multiply", symbolic))
    bw, bx, by, bz = entries(as_vector(b, 4, "quaternion_multiply", symbolic))
    return vector(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ]
    )


@traceable
def quaternion_conjugate(q: Value) -> Value:
    """(w, -x, -y, -z), the inverse of a unit quaternion; shape (..., 4)."""
    w, x, y, z = entries(as_vector(q, 4, "quaternion_conjugate"))
    return vector([w, -x, -y, -z])


def quaternion_rate_matrix(q: Value) -> Value:
    """N with qdot = N w_FM: w_FM is the angular velocity of M in F, expressed in F [rad/s].

    qdot = 1/2 (0, w_FM) q, whatever the length of q.

    Args:
        q: quaternion of M in F, shape (..., 4).

    Returns:
        N, shape (..., 4, 3).
    """
    w, x, y, z = (0.5 * c for c in entries(as_vector(q, 4, "quaternion_rate_matrix")))
    return matrix([[-x, -y, -z], [w, z, -y], [-z, w, x], [y, -x, w]])


def quaternion_rate_inverse(q: Value) -> Value:
    """4 N' with w_FM = 4 N' qdot, shape (..., 3, 4): the left inverse of N for unit q, as N' N = |q|^2 /
    4."""
    return 4 * transpose(quaternion_rate_matrix(q))
