"""Mails (.eml), by the standard library: the subject and the body."""

import email
import email.policy

from nearly.sources.formats.encoding import NotTextError
from nearly.sources.formats.web_page import text_of_page

__all__ = ["text_of"]


def text_of(data: bytes, _encoding: str | None) -> str:
    """The plain body, or else the HTML body as text; attachments are left out."""
    mail = email.message_from_bytes(data, policy=email.policy.default)
    if not mail.keys():
        raise NotTextError("a broken .eml file: it has no headers")
    body = mail.get_body(("plain", "html"))
    content = str(body.get_content()) if body is not None else ""
    if body is not None and body.get_content_subtype() == "html":
        content = text_of_page(content)
    text = f"{mail.get('subject', '')}\n{content}"
    if not text.strip():
        raise NotTextError("a mail without text")
    return text
