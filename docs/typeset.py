"""Docstrings with equations as Markdown: what is indented becomes formulas or a table, the rest paragraphs.

An equation is a line that ends in its number, (1), or stands in a block with such lines. Two spaces or more part its
pieces; a piece that reads as a sentence stays one. Inside formulas

    A'  A^-1  A^+  x_ij  h_w,k      as written, raised and lowered
    y^                              a hat: a cotangent
    qdot, udot_D                    dots
    w x r, x*                       cross products; a . b a dot product
    sum_j, prod_m=1..i, eps, tau    signs and Greek letters
    1/2, 3e-14, <-, <=, [[a, b], [c, d]]
"""

from __future__ import annotations

import re

GREEK = {
    name: f"\\{name}"
    for name in [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "theta",
        "lambda",
        "mu",
        "nu",
        "rho",
        "sigma",
        "tau",
        "kappa",
        "xi",
        "psi",
        "omega",
        "eta",
        "Delta",
        "Sigma",
        "Phi",
        "Lambda",
        "Theta",
    ]
} | {"eps": r"\varepsilon", "phi": r"\varphi"}
NAMES = [
    "max",
    "min",
    "tr",
    "exp",
    "log",
    "sin",
    "cos",
    "cot",
    "det",
    "rms",
    "diag",
    "sqrt",
    "shift",
    "cost",
    "force",
    "moment",
    "mean",
    "median",
    "Hess",
    "blkdiag",
    "Jacobian",
    "ID",
    "KE",
    "PE",
    "error",
    "Delta",
    "growth",
    "rest",
    "busy",
    "start",
    "step",
    "finish",
    "positive",
    "row",
    "status",
    "power",
    "momentum",
    "loads",
    "gyroscopic",
    "load",
    "bias",
    "Ad",
]
"""Words that are parts of formulas, set upright."""
NUMBER = re.compile(r"\s+\((\d+[a-z]?)\)$")
TOKEN = re.compile(
    r"(?P<space> +)|(?P<number>\d+(?:\.\d+)?(?:e-?\d+)?)|(?P<dots>\.\.\.?)|(?P<op><-|->|<=|>=|\+=|-=|<<|>>|:=)"
    r"|(?P<name>(?:d/d)?[A-Za-z][A-Za-z]*\d*)|(?P<one>.)"
)
SYMBOL = re.compile(
    r"(`[^`]*`|\S*\.py\b)|(?<![\w./])(?:[A-Za-z]|tau|phi|eps|alpha|gamma|kappa|lambda|mu|rho)(?:_[A-Za-z0-9]{1,4}(?![\w.])'?|\^-?[\dT+]+(?!\w))"
    r"|(?<![\w.])[quxz]d?dot\b"
)
"""Symbols in a sentence; names in backticks and of files are left alone."""
HAT = re.compile(r"\b([A-Za-z]\w*)\^(?![\w(+\-\d])")


def markdown(text: str) -> str:
    """A docstring, without its first line, as Markdown."""
    out: list[str] = []
    for block in _blocks(text.splitlines()):
        lines = [line for line in block if line.strip()]
        if not lines:
            continue
        if lines[0].startswith("  ") or NUMBER.search(lines[0]):
            out += _indented(lines)
        elif len(lines) > 1 and all(re.match(r"\S+ {2,}\S", line) for line in lines):
            out.append(_table(lines))
        elif len(lines) == 1 and re.fullmatch(r"[A-Z]\w+", lines[0]):
            out.append(f"**{lines[0]}**")
        else:
            out.append(_prose("\n".join(lines)))
    return "\n\n".join(out)


def _blocks(lines: list[str]) -> list[list[str]]:
    """Lines that belong together: between empty ones, and where indentation or a list begins or ends."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        last = blocks[-1][-1] if blocks[-1] else ""
        kind, before = _kind(line), _kind(last)
        inside_list = before == "list" and line.startswith("  ")
        if line.strip() and (not last or kind == before or inside_list):
            if inside_list:  # a list goes on
                blocks[-1][-1] += f" {line.strip()}"
            else:
                blocks[-1].append(line)
        else:
            blocks.append([line] if line.strip() else [])
    return blocks


def _kind(line: str) -> str:
    if NUMBER.search(line):
        return "indented"
    if line.startswith("- "):
        return "list"
    if re.fullmatch(r"[A-Z]\w+", line):
        return "head"
    return "indented" if line.startswith("  ") else "prose"


def _indented(lines: list[str]) -> list[str]:
    if any(NUMBER.search(line) for line in lines) or all(
        _is_formula(line) for line in lines
    ):
        return [_equation(line) for line in _joined(lines)]
    whole = _continued(lines)
    if len(whole) > 1 and all(re.search(r"\S {2,}\S", line) for line in whole):
        return [_table(whole)]
    return [
        "\n".join(
            f"- {_prose(re.sub(' {2,}', '; ', line.strip()))}"
            for line in _continued(lines)
        )
    ]


def _table(lines: list[str]) -> str:
    rows = [re.split(r" {2,}", line.strip(), maxsplit=1) for line in lines]
    bar = "\\|"
    return "| | |\n|---|---|\n" + "\n".join(
        f"| `{a}` | {b.replace('|', bar)} |" for a, b in rows
    )


def _prose(text: str) -> str:
    """A paragraph whose symbols with subscripts, dots and powers are formulas."""
    made = SYMBOL.sub(lambda m: m[0] if m[1] else f"${_formula(m[0])}$", text)
    return re.sub(r"(?<!`)__(\w+)__(?!`)", r"\\_\\_\1\\_\\_", made)


def _is_formula(line: str) -> bool:
    return bool(re.search(r" (=|<-|>=|<=) ", line)) and not re.search(
        r"[a-z]{4,} [a-z]{3,} [a-z]{2,}", line
    )


def _continued(lines: list[str]) -> list[str]:
    """Lines of a table; one that begins further to the right goes on with the one before."""
    least = min(len(line) - len(line.lstrip()) for line in lines)
    out: list[str] = []
    for line in lines:
        if out and len(line) - len(line.lstrip()) > least + 3:
            out[-1] += f" {line.strip()}"
        else:
            out.append(line)
    return out


def _joined(lines: list[str]) -> list[str]:
    """A line that only has a number goes to the one before."""
    out: list[str] = []
    for line in lines:
        if out and re.fullmatch(r"\s*(order[\w \-]*)?\(\d+[a-z]?\)", line.strip()):
            out[-1] += f"   {line.strip()}"
        else:
            out.append(line)
    return out


def _equation(line: str) -> str:
    found = NUMBER.search(line)
    tag = f"\\tag{{{found[1]}}}" if found else ""
    body = NUMBER.sub("", line).strip()
    pieces = [latex(piece) for piece in re.split(r" {2,}", body) if piece]
    return "$$" + r" \quad ".join(pieces) + tag + "$$"


def is_words(piece: str) -> bool:
    """Whether a piece of a line is a sentence, not a formula."""
    words = re.findall(r"[A-Za-z]{2,}", re.sub(r"_\w+", "", piece))
    plain = [
        w
        for w in words
        if w not in GREEK
        and w not in NAMES
        and not w.endswith("dot")
        and w not in ("sum", "prod", "du", "dq", "dy", "dt", "dp")
    ]
    signs = len(re.findall(r"[=+^]|<-|<=|>=| / ", piece))
    return bool(plain) and len(plain) > 2 * signs


def latex(piece: str) -> str:
    """A piece of a line as LaTeX."""
    label, colon, rest = piece.partition(": ")
    if colon and is_words(label) and not is_words(rest):  # "power of a force: sum F' V"
        return f"{_words(label + ': ')} {_formula(rest)}"
    if not is_words(piece):
        return _formula(piece)
    parts, last = [], 0
    for found in SYMBOL.finditer(piece):
        if not found[1]:
            parts += [_words(piece[last : found.start()]), _formula(found[0])]
            last = found.end()
    return " ".join(filter(None, [*parts, _words(piece[last:])]))


def _words(text: str) -> str:
    """Words as they are; what LaTeX would take for its own is left out."""
    plain = re.sub(r"[\\^${}&#]", "", text)
    return rf"\text{{{plain}}}" if plain.strip() else ""


def _formula(text: str) -> str:
    text = HAT.sub(r"hat(\1)", text)
    text = re.sub(r"\[\[(.+?)\]\]", lambda m: f"matrix({m[1]})", text)
    tokens = [(m.lastgroup or "", m[0]) for m in TOKEN.finditer(text)]
    out: list[str] = []
    k = 0
    while k < len(tokens):
        made, k = _next(tokens, k, out)
        out.append(made)
    made, before = re.sub(r"\s+", " ", " ".join(out)).strip(), ""
    while made != before:  # words beside each other are one text
        before, made = (
            made,
            re.sub(
                r"\\text\{ ?([^{}]*?) ?\} \\text\{ ?([^{}]*?) ?\}",
                r"\\text{ \1 \2 }",
                made,
            ),
        )
    return made


def _next(tokens: list[tuple[str, str]], k: int, before: list[str]) -> tuple[str, int]:
    kind, text = tokens[k]
    if kind == "space":
        return (r"\;" if len(text) > 1 else ""), k + 1
    if kind == "number":
        mantissa, _, power = text.partition("e")
        made = (
            mantissa
            if not power
            else (
                f"10^{{{power}}}"
                if mantissa == "1"
                else rf"{mantissa} \cdot 10^{{{power}}}"
            )
        )
        if (
            tokens[k + 1 : k + 2] == [("one", "/")]
            and k + 2 < len(tokens)
            and tokens[k + 2][0] == "number"
        ):
            return rf"\tfrac{{{made}}}{{{tokens[k + 2][1]}}}", k + 3
        return _raised(made, tokens, k + 1)
    if kind == "op":
        return {
            "<-": r"\leftarrow",
            "->": r"\to",
            "<=": r"\le",
            ">=": r"\ge",
            "+=": r"\text{ += }",
            "-=": r"\text{ -= }",
        }.get(text, text), k + 1
    if kind == "dots":
        return r"\ldots", k + 1
    if kind == "name":
        return _name(tokens, k)
    if text == "." and _is_alone(tokens, k):
        return r"\cdot", k + 1
    if text in ")]|":
        return _raised({"|": "|"}.get(text, text), tokens, k + 1)
    return {
        "*": r"{}^{*}",
        "'": "'",
        "%": r"\%",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "`": "",
        "#": "",
        "&": "",
        "$": "",
        "^": r"\hat{\ }",
        "~": r"\sim",
    }.get(text, text), k + 1


def _is_alone(tokens: list[tuple[str, str]], k: int) -> bool:
    return 0 < k < len(tokens) - 1 and tokens[k - 1][0] == tokens[k + 1][0] == "space"


def _name(tokens: list[tuple[str, str]], k: int) -> tuple[str, int]:
    text = tokens[k][1]
    if text == "hat" and tokens[k + 1 : k + 2] == [("one", "(")]:
        inside = tokens[k + 2][1]
        end = k + 3
        while tokens[end] != ("one", ")"):
            inside += tokens[end][1]
            end += 1
        return rf"\hat{{{_symbol(inside.partition('_')[0])}}}" + (
            f"_{{{inside.partition('_')[2]}}}" if "_" in inside else ""
        ), end + 1
    if text == "matrix" and tokens[k + 1 : k + 2] == [("one", "(")]:
        depth, end = 1, k + 2
        while depth:
            depth += {"(": 1, ")": -1}.get(tokens[end][1], 0)
            end += 1
        inside = "".join(t for _, t in tokens[k + 2 : end - 1])
        rows = [
            " & ".join(_formula(c.strip()) for c in row.split(", "))
            for row in inside.split("], [")
        ]
        body = r" \\ ".join(rows)
        return _raised(
            rf"\left[ \begin{{matrix}}{body}\end{{matrix}} \right]", tokens, end
        )
    if text in ("x", "X") and _is_alone(tokens, k) and _is_cross(tokens, k):
        return r"\times", k + 1
    if text == "x" and tokens[k + 1 : k + 2] == [("one", "*")]:
        return r"\times^{*}", k + 2
    if text == "sqrt" and tokens[k + 1 : k + 2] == [("one", "(")]:
        depth, end = 1, k + 2
        while depth and end < len(tokens):
            depth += {"(": 1, ")": -1}.get(tokens[end][1], 0)
            end += 1
        inside = "".join(t for _, t in tokens[k + 2 : end - 1])
        return rf"\sqrt{{{_formula(inside)}}}", end
    return _raised(_symbol(text), tokens, k + 1, big=text in ("sum", "prod"))


def _is_cross(tokens: list[tuple[str, str]], k: int) -> bool:
    """A lone x between two operands."""
    before = tokens[k - 2] if k > 1 else ("", "")
    after = tokens[k + 2] if k + 2 < len(tokens) else ("", "")
    left = before[0] in ("name", "number") or before[1] in ")]'|*"
    left = left and before[1] not in (
        "sum",
        "over",
        "for",
        "of",
        "at",
        "by",
        "with",
        "and",
        "to",
        "where",
        "if",
    )
    return bool(before[1]) and left and (after[0] == "name" or after[1] in "([")


def _symbol(text: str) -> str:
    if text == "sum":
        return r"\sum"
    if text == "prod":
        return r"\prod"
    if text in GREEK:
        return GREEK[text]
    if text.startswith("d/d"):
        return (
            rf"\mathrm{{d}}/\mathrm{{d}}{_symbol(text[3:])}"
            if text[3:]
            else r"\mathrm{d}/\mathrm{d}"
        )
    for ending, accent in (("ddot", r"\ddot"), ("dot", r"\dot")):
        if text.endswith(ending) and len(text) > len(ending):
            rest = text.removesuffix(ending)
            lead = "d" if len(rest) > 1 and rest[0] == "d" else ""
            return f"{lead} {accent}{{{_symbol(rest[len(lead) :])}}}"
    if len(text) == 1:
        return text
    if text in NAMES:
        return rf"\mathrm{{{text}}}"
    if text[0] == "d" and text[1:] in {*GREEK, *"qutxyvVFSWpRHrwaA"}:
        return f"d{_symbol(text[1:])}"
    if len(text) == 2 and not text.islower():
        return rf"\mathit{{{text}}}"
    return (
        rf"\text{{ {text} }}"
        if len(text) > 2
        or text in ("of", "to", "at", "is", "by", "as", "on", "in", "or", "if", "it")
        else rf"\mathit{{{text}}}"
    )


def _raised(
    base: str, tokens: list[tuple[str, str]], k: int, big: bool = False
) -> tuple[str, int]:
    """Subscripts, superscripts and primes that follow a base."""
    low = high = primes = ""
    while k < len(tokens):
        text = tokens[k][1]
        if text == "_" and not low:
            low, k = _script(tokens, k + 1, commas=True)
        elif (
            text == "^"
            and not high
            and k + 1 < len(tokens)
            and tokens[k + 1][0] != "space"
        ):
            high, k = _script(tokens, k + 1)
        elif text in "+-" and not high and not big and _ends(tokens, k + 1):
            high, k = text, k + 1  # f+ and f-: after and before
        elif text == "'":
            primes, k = primes + r"\prime", k + 1
        else:
            break
    if big and "=" in low and r"\ldots" in low:
        low, _, high = low.partition(r"\ldots")
    made = base + (f"_{{{low}}}" if low else "")
    return made + (
        f"^{{{primes}{' ' if primes and high else ''}{high}}}" if primes or high else ""
    ), k


def _ends(tokens: list[tuple[str, str]], k: int) -> bool:
    return k == len(tokens) or tokens[k][0] == "space" or tokens[k][1] in "),;|"


def _script(
    tokens: list[tuple[str, str]], k: int, commas: bool = False
) -> tuple[str, int]:
    """What is raised or lowered: in parentheses, or up to a space or a sign."""
    if tokens[k][1] in "({":
        depth, end = 1, k + 1
        while depth and end < len(tokens):
            depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(tokens[end][1], 0)
            end += 1
        return _formula("".join(t for _, t in tokens[k + 1 : end - 1])), end
    parts = ""
    if tokens[k][1] in "+-":
        parts, k = tokens[k][1], k + 1
    while k < len(tokens):
        kind, text = tokens[k]
        goes_on = (
            text in "_=+-<"
            and parts
            and k + 1 < len(tokens)
            and tokens[k + 1][0] in ("name", "number")
        )
        comma = (
            commas and text == "," and k + 1 < len(tokens) and tokens[k + 1][0] == "name"
        )
        if kind in ("name", "number", "dots") or (commas and goes_on) or comma:
            parts += {"name": _inside(text), "dots": r"\ldots "}.get(
                kind, text if text != "_" else " "
            )
            k += 1
        else:
            break
    return parts, k


def _inside(text: str) -> str:
    return GREEK.get(text, text if len(text) < 4 else rf"\mathrm{{{text}}}")
