/** Of the documentation page; light or dark as the reader's system is. */
export const STYLE = `
:root{color-scheme:light dark;--ink:#1b2430;--dim:#5b6776;--line:#dfe4ea;--paper:#fff;--side:#f6f8fa;--code:#eef1f5;
--link:#0b5cad;--get:#1a7f4b;--post:#0b5cad;--put:#8a5a00;--patch:#7a3ea8;--delete:#b3261e}
@media (prefers-color-scheme:dark){:root{--ink:#e4e9ef;--dim:#9aa6b4;--line:#2c3541;--paper:#12171e;--side:#171d26;
--code:#1f2731;--link:#6cb2ff;--get:#4fc38a;--post:#6cb2ff;--put:#e0ad4c;--patch:#c79bf0;--delete:#ff8a80}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:1rem}
body{margin:0;display:grid;grid-template-columns:19rem minmax(0,1fr);color:var(--ink);background:var(--paper);
font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.25rem;background:var(--side);border-right:1px solid var(--line)}
nav .brand{margin:0 0 1rem;font-weight:700;font-size:1.15rem;letter-spacing:.02em}
nav .service{margin:1.4rem 0 0;font-weight:600}
nav h2{margin:1.1rem 0 .3rem;font-size:.75rem;text-transform:uppercase;letter-spacing:.07em}
nav h2 a{color:var(--dim)}
nav ul{list-style:none;margin:0;padding:0}
nav li a{display:flex;gap:.5rem;align-items:baseline;padding:.12rem .35rem;border-radius:.3rem;color:var(--ink)}
nav li a:hover{background:var(--code);text-decoration:none}
nav .method{flex:none;width:3.4rem;font-size:.62rem}
nav .path{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;font-size:.82rem}
main{padding:2rem clamp(1rem,4vw,4rem) 6rem;max-width:64rem}
h1{margin:0 0 .5rem;font-size:1.9rem}h1 small{color:var(--dim);font-size:.95rem;font-weight:400}
main h2{margin:3rem 0 0;padding-bottom:.4rem;border-bottom:2px solid var(--line);font-size:1.35rem}
main h2 small{color:var(--dim);font-size:.9rem;font-weight:400}
article{padding:1.4rem 0;border-bottom:1px solid var(--line)}
h3{margin:0;font-size:1.02rem;font-weight:600;overflow-wrap:anywhere}
h3 code{background:none;padding:0;font-size:1em}
h4{margin:1.1rem 0 .35rem;font-size:.78rem;text-transform:uppercase;letter-spacing:.06em;color:var(--dim)}
p{margin:.4rem 0}.summary{font-size:1.02rem}.note{color:var(--dim);font-size:.88rem}
.inner{margin:.8rem 0 .2rem}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
a:focus-visible,summary:focus-visible{outline:2px solid var(--link);outline-offset:2px}
code,pre{font:.9em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{background:var(--code);padding:.08em .3em;border-radius:.25rem}
pre{background:var(--code);padding:.8rem 1rem;border-radius:.45rem;overflow:auto}pre code{padding:0}
.table{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th,td{padding:.4rem .7rem .4rem 0;border-top:1px solid var(--line);text-align:left;vertical-align:top;font-weight:400}
tr:first-child>*{border-top:0}th{width:13rem;white-space:nowrap}
.required{color:var(--delete);font-weight:700}
.method{display:inline-block;font:700 .74rem ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;letter-spacing:.03em}
.get{color:var(--get)}.post{color:var(--post)}.put{color:var(--put)}.patch{color:var(--patch)}.delete{color:var(--delete)}
.status{display:inline-block;padding:0 .45rem;border-radius:.3rem;background:var(--get);color:var(--paper);font-size:.8rem;
font-weight:600}.status.bad{background:none;color:var(--delete);padding:0}
.errors{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;font-size:.85rem;color:var(--dim)}
details{margin:.4rem 0}summary{cursor:pointer;color:var(--link);font-size:.88rem}
@media (max-width:52rem){body{display:block}nav{position:static;height:auto;max-height:40vh;border-right:0;
border-bottom:1px solid var(--line)}}
`;
