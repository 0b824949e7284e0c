"""The labels of the Encoding Standard, and what Python's codecs lack of its indexes.

scripts/make_encoding_tables.py makes this module, from data under the BSD-3-Clause licence: NOTICE.
"""

from __future__ import annotations

#: of each encoding, by its name in lower case
LABELS = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
    "ibm866": "866 cp866 csibm866 ibm866",
    "iso-8859-2": (
        "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"
    ),
    "iso-8859-3": (
        "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"
    ),
    "iso-8859-4": (
        "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"
    ),
    "iso-8859-5": (
        "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 "
        "iso_8859-5:1988"
    ),
    "iso-8859-6": (
        "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e "
        "iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987"
    ),
    "iso-8859-7": (
        "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 "
        "iso_8859-7 iso_8859-7:1987 sun_eu_greek"
    ),
    "iso-8859-8": (
        "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 "
        "iso_8859-8 iso_8859-8:1988 visual"
    ),
    "iso-8859-8-i": "csiso88598i iso-8859-8-i logical",
    "iso-8859-10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso-8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso-8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso-8859-15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "iso-8859-16": "iso-8859-16",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "macintosh": "csmacintosh mac macintosh x-mac-roman",
    "windows-874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "windows-1250": "cp1250 windows-1250 x-cp1250",
    "windows-1251": "cp1251 windows-1251 x-cp1251",
    "windows-1252": (
        "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 "
        "iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252"
    ),
    "windows-1253": "cp1253 windows-1253 x-cp1253",
    "windows-1254": (
        "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 "
        "latin5 windows-1254 x-cp1254"
    ),
    "windows-1255": "cp1255 windows-1255 x-cp1255",
    "windows-1256": "cp1256 windows-1256 x-cp1256",
    "windows-1257": "cp1257 windows-1257 x-cp1257",
    "windows-1258": "cp1258 windows-1258 x-cp1258",
    "x-mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gbk": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk",
    "gb18030": "gb18030",
    "big5": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc-jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso-2022-jp": "csiso2022jp iso-2022-jp",
    "shift_jis": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "euc-kr": (
        "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 "
        "ksc_5601 windows-949"
    ),
    "replacement": "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement",
    "utf-16be": "unicodefffe utf-16be",
    "utf-16le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
    "x-user-defined": "x-user-defined",
}

#: sequences of bytes with what they stand for, as against Python's `big5hkscs`
BIG5 = (
    "877a㡵 877b𡵓 877c𣚞 877d𦀡 877e㻬 87a1𥣞 87a2㫵 87a3竼 87a4龗 87a5𤅡 87a6𨤍 87a7𣇪 "
    "87a8𠪊 87a9𣉞 87aa䌊 87ab蒄 87ac龖 87ad鐯 87ae䤰 87af蘓 87b0墖 87b1靊 87b2鈘 87b3秐 "
    "87b4稲 87b5晠 87b6権 87b7袝 87b8瑌 87b9篅 87ba枂 87bb稬 87bc剏 87bd遆 87be㓦 87bf珄 "
    "87c0𥶹 87c1瓆 87c2鿇 87c3垳 87c4䤯 87c5呌 87c6䄱 87c7𣚎 87c8堘 87c9穲 87ca𧭥 87cb讏 "
    "87cc䚮 87cd𦺈 87ce䆁 87cf𥶙 87d0箮 87d1𢒼 87d2鿈 87d3𢓁 87d4𢓉 87d5𢓌 87d6鿉 87d7蔄 "
    "87d8𣖻 87d9䂴 87da鿊 87db䓡 87dc𪷿 87dd拁 87de灮 87df鿋 8e69箸 8e6f簆 8e7e糎 8eab緒 "
    "8eb4縝 8ecd者 8ed0耨 8f57菁 8f69蒨 8f6e萏 8fcb覦 8fcc覩 8ffe起 906d都 907a銹 90dc靜 "
    "90f1響 91bf鼖 9244蔃 92af兙 92b0兛 92b1兝 92b2兞 92c8鍮 92d1瑹 9447浧 94ca禛 95d9邗 "
    "9644靝 96ed瀞 96fc嬨 9b76爁 9b78矗 9b7b纇 9bc6駖 9bde釔 9bec惞 9bf6澶 9c42輶 9c53侻 "
    "9c62營 9c68鄄 9c6b鷰 9c77菏 9cbc尐 9cbd秣 9cd0婧 9d57輋 9d5a筑 9dc4拐 9ea9恢 9eef痹 "
    "9efd汊 9f60鬮 9f66鼗 9fcb僭 9fd8弌 a063蠏 a077拎 a0d5瑨 a0df煢 a0e4牐 a145‧ a14e﹑ "
    "a1c2¯ a1e3～ a1f2⊕ a1f3⊙ a241∕ a242﹨ a244￥ a246￠ a247￡ a3c0␀ a3c1␁ a3c2␂ "
    "a3c3␃ a3c4␄ a3c5␅ a3c6␆ a3c7␇ a3c8␈ a3c9␉ a3ca␊ a3cb␋ a3cc␌ a3cd␍ a3ce␎ "
    "a3cf␏ a3d0␐ a3d1␑ a3d2␒ a3d3␓ a3d4␔ a3d5␕ a3d6␖ a3d7␗ a3d8␘ a3d9␙ a3da␚ "
    "a3db␛ a3dc␜ a3dd␝ a3de␞ a3df␟ a3e0␡ a3e1€ c6cf廴 c6d3无 c6d5癶 c6d7隶 c6de〃 "
    "c6df仝 fa5f倩 fa66偽 fabd包 fac5卄 fad5卿 fb48嘅 fbb8婷 fbf3幵 fbf9廐 fc4f彘 fc6c悤 "
    "fcb9撐 fce2晴 fcf1杞 fdb7沜 fdb8渝 fdbb港 fdf1煮 fe52猪 fe6f瑜 feaa瓩 fedd砉 "
)

#: as against Python's `gb18030`
GB18030 = (
    "a3a0　 a6d9︐ a6da︒ a6db︑ a6dc︓ a6dd︔ a6de︕ a6df︖ a6ec︗ a6ed︘ a6f3︙ a8bcḿ "
    "fe59龴 fe61龵 fe66龶 fe67龷 fe6d龸 fe7e龹 fe90龺 fea0龻 "
)
