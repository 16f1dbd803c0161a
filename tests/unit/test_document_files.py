"""Files become documents with all of their text, their title and their pages."""

from __future__ import annotations

import io
from pathlib import Path

import docx
import pytest

from producers.document_files import UnreadableFile, read_bytes, read_file


def pdf(*pages: str) -> bytes:
    """A PDF of pages with a line each."""
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
    ]
    font = "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    for number, line in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 700 Td ({line}) Tj ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources {font} /Contents {4 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    out = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    return out + f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF".encode()


def test_a_pdf_keeps_its_pages() -> None:
    found = read_bytes(pdf("The mill burned.", "The boat sank."), ".pdf", "a.pdf")
    first, second = found.pages
    assert found.content[first:second].strip() == "The mill burned."
    assert found.content[second:].strip() == "The boat sank."


def test_a_word_that_a_pdf_parts_at_a_lines_end_is_whole_again_and_a_compound_keeps_its_hyphen() -> None:
    found = read_bytes(pdf("The old mecha-\nnism, a well-\nknown one.", "Its mechanism broke."), ".pdf", "a.pdf")
    assert "The old mechanism, a well-known one." in found.content
    assert found.content[found.pages[1] :].startswith("Its mechanism broke.")


def test_letters_that_a_pdf_has_as_one_sign_are_letters() -> None:
    assert read_bytes(pdf("\\256nd it"), ".pdf", "a.pdf").content.strip() == "find it"


def test_cells_of_a_row_stay_beside_each_other() -> None:
    table = "<table><tr><th>Name</th><th>Size</th></tr><tr><td>the <b>mill</b></td><td>28</td></tr></table>after"
    assert read_bytes(table.encode(), ".html", "a.html").content == "Name\tSize\n\nthe mill\t28\n\nafter"


def test_html_gives_its_words_and_no_script() -> None:
    page = """<html><head><title>The mill</title><script>steal()</script></head><body><nav>Home</nav><h1>A</h1>
    <p>One <b>bold</b>\n word.</p><ul><li>outer<ul><li>inner</li></ul></li></ul><pre>x = 1\ny = 2</pre>loose</body>"""
    found = read_bytes(page.encode(), ".html", "a.html")
    assert found.title == "The mill"
    assert found.content.split("\n\n") == ["# A", "One bold word.", "outer", "inner", "x = 1\ny = 2", "loose"]


def test_a_word_file_gives_paragraphs_and_tables() -> None:
    file = docx.Document()
    file.core_properties.title = "The mill"
    file.add_heading("The fire", 2)
    file.add_paragraph("It burned.")
    file.add_table(1, 2).cell(0, 1).text = "1962"
    raw = io.BytesIO()
    file.save(raw)
    found = read_bytes(raw.getvalue(), ".docx", "a.docx")
    assert (found.title, found.content) == ("The mill", "## The fire\n\nIt burned.\n\n\t1962")


@pytest.mark.parametrize(
    ("raw", "ending", "says"),
    [
        (b"no pdf", ".pdf", "damaged"),
        (b"\xff\xfe\xfa", ".txt", "UTF-8"),
        (b"  \n", ".md", "no text"),
        (b"<script>x</script>", ".html", "no text"),
    ],
)
def test_what_cannot_be_read_says_why(raw: bytes, ending: str, says: str) -> None:
    with pytest.raises(UnreadableFile, match=says):
        read_bytes(raw, ending, f"a{ending}")


def test_other_formats_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"\.pdf, \.html"):
        read_file(tmp_path / "a.exe")
