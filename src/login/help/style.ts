/** The style of the help page; it works from 320 pixels on. */
export const STYLE = `
:root{color-scheme:light dark;--line:#8886;--main:#1c5bc4;--fault:#b3261e}
@media (prefers-color-scheme:dark){:root{--main:#8ab4f8;--fault:#f2b8b5}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1320px;padding:12px 16px 24px;font:16px/1.45 system-ui,sans-serif}
h1{font-size:20px;margin:4px 0}
p{margin:6px 0}
.site{font-weight:600;overflow-wrap:anywhere}
.small{font-size:14px;opacity:.8}
.hint{font-size:28px;font-weight:700;letter-spacing:.04em;overflow-wrap:anywhere}
.hint.long{font-size:17px;font-weight:600;letter-spacing:0}
.fault{color:var(--fault);font-weight:600}
.row{display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin:8px 0}
[hidden]{display:none!important}
button,input{font:inherit;min-height:44px;padding:8px 14px;border:1px solid var(--line);border-radius:8px}
input{flex:1 1 160px;min-width:0}
button{cursor:pointer}
button.main{background:var(--main);color:Canvas;border-color:transparent;font-weight:600}
button[aria-pressed=true]{outline:2px solid var(--main)}
#ask{border-left:4px solid var(--main);padding-left:12px;margin:8px 0}
#view{overflow:auto;border:1px solid var(--line);border-radius:8px;max-height:78vh;background:#8882;
  touch-action:pan-x pan-y;overscroll-behavior:contain}
#view:focus-visible{outline:3px solid var(--main)}
#view.drag{touch-action:none}
#picture{display:block;width:100%;height:auto;user-select:none;-webkit-user-select:none}
#view.zoomed #picture{width:max(100%,880px)}
#live.over{opacity:.4}
@media (max-width:480px){label{flex-basis:100%}}
@media (hover:none),(max-width:700px){#keys{display:none}}
`;
