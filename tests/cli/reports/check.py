"""check.py JSON XML TAP HTML: do the three reports say what the JSON report of the same run says? Parsers are Python's, not kc's."""
import html.parser
import json
import re
import sys
import xml.etree.ElementTree as etree

CHECKS = 0


def check(ok, *why):
    global CHECKS
    CHECKS += 1
    if not ok:
        sys.exit("check.py: " + " ".join(repr(w) for w in why))


def printable(text):
    """The bytes of a JSON string of kc's (one character a byte) as reports show them."""
    shown = text.encode("latin-1").decode("utf-8", "backslashreplace")

    def hexadecimal(match):
        return "".join("\\x%02x" % b for b in match.group().encode())
    return re.sub("[\0-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff\u202a-\u202e\u2066-\u2069]", hexadecimal, shown)


OUTCOMES = {"held": "passed", "violated": "failure", "skipped": "skipped"}


class Cell:
    def __init__(self, row):
        self.contract, self.device = row["contract"], row["device"]
        self.implementation, self.verdict = printable(row["implementation"]), row["verdict"]["name"]
        self.title = self.implementation + "@" + self.device
        self.outcome = OUTCOMES.get(self.verdict, "error")
        self.reason, self.signature = printable(row["verdict"].get("reason", "")), row["verdict"].get("signature")
        self.replay = row.get("replay") and "kc replay " + row["replay"]
        worst = [s.get("worst_at") for s in row.get("samples", []) if s.get("worst_at")]
        self.codes = {a["code"] for a in worst} | {s["class_at"]["code"] for s in row.get("samples", []) if s.get("class_at")}


# ---- JUnit ------------------------------------------------------------------------------------------------------------------

def junit(path, cells):
    root = etree.parse(path).getroot()
    total = {"tests": 0, "failure": 0, "error": 0}
    seen = []
    for suite in root:
        cases = suite.findall("testcase")
        kinds = [case[0].tag for case in cases]
        for name, kind in ("failures", "failure"), ("errors", "error"), ("skipped", "skipped"):
            check(int(suite.get(name)) == kinds.count(kind), suite.get("name"), name)
        check(int(suite.get("tests")) == len(cases), "tests of", suite.get("name"))
        check(abs(float(suite.get("time")) - sum(float(c.get("time")) for c in cases)) < 0.01, "time of", suite.get("name"))
        total["tests"] += len(cases)
        for kind in "failure", "error":
            total[kind] += kinds.count(kind)
        seen += [(case.get("classname"), case.get("name"), case) for case in cases]
        check(all(case.get("classname") == suite.get("name") for case in cases), "classname in", suite.get("name"))
    check([int(root.get(k)) for k in ("tests", "failures", "errors")] == [total[k] for k in ("tests", "failure", "error")], "totals")
    check([s[:2] for s in seen] == [(c.contract, c.title) for c in cells], "cases", [s[:2] for s in seen])
    for cell, (_, _, case) in zip(cells, seen):
        child = case[0]
        check(len(case) == 1 and {"system-out": "passed"}.get(child.tag, child.tag) == cell.outcome, cell.title, child.tag)
        if cell.outcome != "passed":
            check(child.get("message") == cell.reason, child.get("message"), cell.reason)
        if cell.outcome == "failure":
            check(child.get("type") == cell.signature, child.get("type"))
            check(any(code in child.text for code in cell.codes), "worst element", child.text)
        if cell.outcome == "error":
            check(child.get("type") == cell.verdict, child.get("type"))
        if cell.replay:
            check(child.text.split("\n").count(cell.replay) == 1, "replay in", child.text)


# ---- TAP --------------------------------------------------------------------------------------------------------------------

POINT = re.compile(r"^(not )?ok (\d+) - ((?:[^\\#]|\\\\|\\#)*?)(?: # SKIP (.*))?$")


def blocks(lines):
    """Points of a TAP stream as (ok, number, description, skip reason, block)."""
    points, block = [], None
    for line in lines:
        if line == "  ---":
            block = {}
        elif line == "  ...":
            points[-1][4].update(block)
            block = None
        elif block is not None:
            key, value = re.fullmatch(r"  (\w+): (.*)", line).groups()
            check(key not in block, "a key twice", key)
            block[key] = json.loads(value) if value[0] == '"' else float(value.replace(".inf", "inf").replace(".nan", "nan"))
        elif not line.startswith("#"):
            match = POINT.match(line)
            check(match, "not a test point:", line)
            wrong, number, text, reason = match.groups()
            points.append((not wrong, int(number), re.sub(r"\\([\\#])", r"\1", text), reason, {}))
    check(block is None, "a block without an end")
    return points


def tap(path, cells):
    lines = open(path, encoding="utf-8", newline="\n").read().split("\n")
    check(lines[0] == "TAP version 14" and lines[1] == "1..%d" % len(cells) and lines[-1] == "", lines[:2])
    points = blocks(lines[2:-1])
    check([p[1] for p in points] == list(range(1, len(cells) + 1)), "numbers")
    for cell, (ok, _, text, reason, block) in zip(cells, points):
        check(text == "%s: %s" % (cell.contract, cell.title), text, cell.title)
        check(ok == (cell.outcome in ("passed", "skipped")), "ok of", text)
        check((reason is not None) == (cell.outcome == "skipped"), "skip of", text)
        if reason is not None:
            check(reason == cell.reason, reason)
        check(bool(block) == (not ok), "block of", text)
        if block:
            check(block["verdict"] == cell.verdict and block["message"] == cell.reason, block)
            check(block.get("replay") == cell.replay and block.get("signature") == cell.signature, block)
        if cell.outcome == "failure":
            check(block["ratio"] > 1 and any(code in block["element"] for code in cell.codes), block)


# ---- HTML -------------------------------------------------------------------------------------------------------------------

VOID = {"meta", "br", "link", "img", "input", "hr"}
HARMLESS = {"class", "id", "lang", "scope", "role", "aria-hidden", "open", "xmlns", "charset", "http-equiv", "content", "name", "href",
            "width", "height", "viewbox", "x", "y", "x1", "x2", "y1", "y2", "d", "text-anchor"}


class Page(html.parser.HTMLParser):
    """What a browser without scripts would see: tags balance, nothing is loaded, nothing runs."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.text, self.cells, self.codes, self.ids, self.links, self.heads = [], [], [], [], [], [], []

    def handle_starttag(self, tag, attributes):
        check(tag not in ("script", "iframe", "object", "embed", "link", "img", "form"), "tag", tag)
        check({name for name, _ in attributes} <= HARMLESS, tag, attributes)
        a = dict(attributes)
        if tag == "tr" and a.get("class") == "cell":
            self.cells.append([])
        if "id" in a:
            self.ids.append(a["id"])
        if "href" in a:
            self.links.append(a["href"])
        if tag in ("th", "td", "code", "title"):
            self.text.append("")
        if re.fullmatch("h[1-6]", tag):
            self.heads.append(int(tag[1]))
        if tag == "table":
            self.wants_caption = True
        if tag == "caption":
            self.wants_caption = False
        if tag == "tbody":
            check(not self.wants_caption, "a table without a caption")
        if tag == "th":
            check(a.get("scope") in ("row", "col"), "scope")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        check(tag in VOID or "svg" in self.open, "self-closing", tag)
        check({name for name, _ in attributes} <= HARMLESS, tag, attributes)

    def handle_endtag(self, tag):
        check(self.open and self.open.pop() == tag, "unbalanced", tag)
        if tag in ("th", "td", "code") and "svg" not in self.open:
            text = self.text.pop()
            if tag == "code":
                self.codes.append(text)
            elif "tr" in self.open and self.cells and "tbody" in self.open:
                self.cells[-1].append(text)
        elif tag == "title":
            self.text.pop()
        if tag == "tbody" and self.cells:
            self.cells.append([])

    def handle_data(self, data):
        if self.text and "svg" not in self.open:
            self.text[-1] += data


NS = "{http://www.w3.org/2000/svg}"


def plots(source):
    """Every <svg> is XML by itself, is told in words, shows a ratio above 1 beyond the line, and leaves no element out."""
    found = [etree.fromstring(text) for text in re.findall(r"<svg .*?</svg>", source, re.S)]
    for svg in found:
        check(svg[0].tag == NS + "title" and svg[0].text and svg[1].tag == NS + "desc" and svg[1].text, "title and desc")
        check(svg.get("role") == "img", "role")
        line = svg.find(NS + "line")
        if line is None:
            counts = [int(t.text) for t in svg.findall(NS + "text")[1::2]]
            judged = re.search(r"of (\d+) elements", svg[1].text)
            check(not judged or sum(counts) == int(judged.group(1)), svg[1].text, counts)
            continue
        bars = {r.get("class"): float(r.get("width")) for r in svg.findall(NS + "rect")}
        ratio = float(svg[0].text.split(": ")[1].replace("infinite", "inf"))
        check(("over" in bars) == (ratio > 1), svg[0].text, bars)
        end = bars.get("over", bars.get("under", 0.0))
        check((end > float(line.get("x1"))) == (ratio > 1), svg[0].text, end)
        check(end <= float(svg.get("width")), svg[0].text, end)
    return found


def page(path, cells):
    source = open(path, encoding="utf-8").read()
    etree.fromstring(source.split("\n", 1)[1])
    check(source.startswith("<!DOCTYPE html>\n"), "doctype")
    seen = Page()
    seen.feed(source)
    seen.close()
    check(not seen.open, "open at the end", seen.open)
    check(len(set(seen.ids)) == len(seen.ids), "an id twice")
    check(all(link[0] == "#" and link[1:] in seen.ids for link in seen.links), "links", seen.links)
    check(not re.search(r"https?://(?!www\.w3\.org/(?:1999/xhtml|2000/svg)\")", source), "an address")
    check("url(" not in source and "@import" not in source, "a style that loads")
    check(seen.heads[0] == 1 and all(b - a <= 1 for a, b in zip(seen.heads, seen.heads[1:])), "headings", seen.heads)
    rows = [r for r in seen.cells if r and len(r) >= 5]
    got = [(r[0], r[1], re.sub(r"^\S+ ", "", r[2])) for r in rows]
    check(got == [(c.implementation, c.device, c.verdict) for c in cells], "cells", got)
    for cell in cells:
        if cell.replay:
            check(seen.codes.count(cell.replay) == 1, "replay of", cell.title)
        if cell.outcome == "failure":
            check(any(code in seen.codes for code in cell.codes), "worst element of", cell.title)
    check(len(plots(source)) > 0, "plots")


def main():
    report, xml, points, document = sys.argv[1:]
    cells = [Cell(row) for row in json.load(open(report, encoding="ascii"))["results"]]
    check(len(cells) > 0, "no cells")
    junit(xml, cells)
    tap(points, cells)
    page(document, cells)
    print("%d checks" % CHECKS)


main()
