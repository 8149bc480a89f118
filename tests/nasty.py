"""Names and texts that would like to be something else, for whatever makes a page of them."""

__all__ = ["LONG", "NASTY", "OTHER"]

LONG = "the quick brown fox jumps over the lazy dog and then it sleeps in the sun for a while"
OTHER = "a market opens on the old bridge each first sunday of the month with bread and honey"
NASTY = {
    "</style></title><script>alert(1)</script>": "<script>alert('text')</script> and " + LONG,
    "\"><img src=x onerror='alert(2)'>": "<script>alert('text')</script> und " + LONG,
    "\u202egnp.exe": "&lt;b&gt; ]]> <!-- {{ 7*7 }} " + OTHER,
    "=cmd|' /C calc'!A0": "&lt;b&gt; ]]> <!-- {{ 7*7 }} " + OTHER + " javascript:alert(3)",
    "word" * 200: "w" * 3_000 + " " + OTHER,
    "long": "w" * 3_000 + " " + OTHER + " again",
    "שלום": "שלום לכולם וברוכים הבאים אל הספרייה העירונית החדשה ברחוב הראשי של העיר שלנו היום",
    "מחר": "שלום לכולם וברוכים הבאים אל הספרייה העירונית החדשה ברחוב הראשי של העיר שלנו מחר",
    "图书馆": "图书馆星期六关门盘点请大家星期一再来借书还书谢谢合作",
    "图书馆二": "图书馆星期天关门盘点请大家星期一再来借书还书谢谢合作",
}
