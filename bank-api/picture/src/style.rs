//! What pages and drawings look like: light or dark as the reader's machine is, and on paper.
//!
//! Series are told apart by colour and by pattern, dashes or signs; the colours are chosen so that
//! those who see fewer of them still tell neighbours apart.

/// Colours, and everything within a drawing. Names of classes are those of drawings only.
pub(super) const CHART: &str = "\
:root,svg{--paper:#fff;--ink:#1b1b1b;--faint:#595959;--line:#c8c8c8;--grid:#e4e4e4;\
--s0:#0072b2;--s1:#d55e00;--s2:#009e73;--s3:#cc79a7;--s4:#b07d00;--s5:#56b4e9;--s6:#6f6f6f;--s7:#7a4fb5}
@media screen and (prefers-color-scheme:dark){:root,svg{--paper:#16181b;--ink:#e8e8e8;--faint:#a9adb3;\
--line:#4a4f55;--grid:#2c3035;\
--s0:#4fa8e0;--s1:#ff8f4a;--s2:#35c79b;--s3:#e8a3ca;--s4:#e6b93c;--s5:#a5dbff;--s6:#b4b4b4;--s7:#b797e8}}
.chart text{font:12px system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif;fill:var(--ink)}
.chart .tick{font-variant-numeric:tabular-nums}
.chart .faint{fill:var(--faint)}
.chart .halo{paint-order:stroke;stroke:var(--paper);stroke-width:4px}
.chart path,.chart rect{stroke-linejoin:round}
.chart .paper{fill:var(--paper)}
.chart .grid{stroke:var(--grid);fill:none}
.chart .zero,.chart .notch{stroke:var(--faint);fill:none}
.chart .hatch{stroke:var(--paper);stroke-width:1.6px;fill:none;pointer-events:none}
.chart .dots{stroke-dasharray:3 3;stroke-width:3px}
.chart .edge{stroke:var(--paper);stroke-width:1px;fill:none}
.chart .f{stroke:var(--paper);stroke-width:.5px}
.chart .s0{fill:var(--s0)}.chart .s1{fill:var(--s1)}.chart .s2{fill:var(--s2)}.chart .s3{fill:var(--s3)}
.chart .s4{fill:var(--s4)}.chart .s5{fill:var(--s5)}.chart .s6{fill:var(--s6)}.chart .s7{fill:var(--s7)}
.chart .m{stroke:var(--paper);stroke-width:1px}
.chart .line{fill:none;stroke-width:2px}
.chart .l0{stroke:var(--s0)}.chart .l1{stroke:var(--s1);stroke-dasharray:7 3}.chart .l2{stroke:var(--s2);stroke-dasharray:2 3}
.chart .l3{stroke:var(--s3);stroke-dasharray:9 3 2 3}.chart .l4{stroke:var(--s4);stroke-dasharray:12 4}
.chart .l5{stroke:var(--s5);stroke-dasharray:4 2}.chart .l6{stroke:var(--s6);stroke-dasharray:9 3 2 3 2 3}
.chart .l7{stroke:var(--s7);stroke-dasharray:1 2}
.chart .main{fill:none;stroke:var(--s0);stroke-width:2.2px}
.chart .coming{fill:none;stroke:var(--s1);stroke-width:2.2px;stroke-dasharray:7 4}
.chart .ideal{fill:none;stroke:var(--faint);stroke-width:1.2px}
.chart .band{fill:var(--s0);opacity:.25}
.chart .spread{fill:var(--s1);fill-opacity:.18;stroke:var(--s1);stroke-width:1px;stroke-dasharray:2 3}
.chart .deposit{fill:var(--s2);stroke:var(--paper);stroke-width:1px}
.chart .now,.chart .limit{fill:none;stroke:var(--ink);stroke-width:1.2px;stroke-dasharray:3 3}
.chart .none{fill:none}
";

/// The two widths of a drawing within a page, of which it shows one.
pub(super) const FIGURE: &str = "\
figure{margin:.6rem 0 1rem;container-type:inline-size}
figure .chart{display:block;width:100%;height:auto}
figure .wide{max-width:54rem}
figure .narrow{display:none;max-width:27rem}
@container (max-width:44.9rem){figure .wide{display:none}figure .narrow{display:block}}
";

/// The frame of a table below a drawing, which scrolls if the table is wider.
const FRAME: &str = ".rows{overflow-x:auto}\n";

/// What the script adds to a drawing.
pub(super) const LIVE: &str = "\
.chart:focus-visible,.chart .key:focus-visible{outline:2px solid var(--s0);outline-offset:2px}
.chart .key[role]{cursor:pointer}
.chart .hit{fill:none;pointer-events:all}
.chart .off{display:none}
.chart .key[aria-pressed=false]{text-decoration:line-through}
.chart .key[aria-pressed=false]>:not(text){fill-opacity:.25;stroke-opacity:.25}
.chart a{cursor:pointer}
.chart a:hover .f,.chart a:hover .m{stroke:var(--ink);stroke-width:1.5px}
.chart .cursor{stroke:var(--ink);stroke-width:1px;fill:none;pointer-events:none}
.chart .tip{pointer-events:none}
.chart .tip rect{fill:var(--paper);stroke:var(--faint)}
.chart .brush{fill:var(--s0);fill-opacity:.2;stroke:var(--s0);pointer-events:none}
.chart.zooms{cursor:crosshair;touch-action:pan-y}
.spoken{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap;margin:0}
@media print{.chart .tip,.chart .cursor,.chart .brush{display:none}}
";

/// What only pages need.
pub(super) const PAGE: &str = "\
:root{color-scheme:light dark}
*{box-sizing:border-box}
body{font:15px/1.45 system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif;color:var(--ink);\
background:var(--paper);max-width:96rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}
h1{font-size:1.4rem;margin:0;line-height:1.25}
h2{font-size:1.15rem;margin:2rem 0 .3rem}
h3{font-size:1rem;margin:1.6rem 0 .3rem}
p{margin:.3rem 0;color:var(--faint);max-width:60rem}
section{min-width:0}
.beside,.pair{display:grid;gap:0 2.5rem;grid-template-columns:minmax(0,1fr)}
@media screen and (min-width:70rem){.beside,.pair{grid-template-columns:repeat(2,minmax(0,1fr))}\
.whole{display:flex;flex-wrap:wrap;align-items:flex-start;gap:0 2.5rem}.whole>*{flex:1 1 100%}\
.whole>figure{flex:1 1 36rem;max-width:54rem}.whole>.rows{flex:1 1 auto}}
.absent{border:1px dashed var(--line);padding:.8rem 1rem;margin:.6rem 0;color:var(--ink)}
table{border-collapse:collapse;width:100%;margin:1rem 0;font-size:.93rem}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{text-align:left;padding:.2rem .6rem .2rem 0;border-bottom:1px solid var(--line);vertical-align:top;\
overflow-wrap:normal}
tbody th{font-weight:400;overflow-wrap:anywhere;min-width:6rem}
thead th{font-weight:600}
thead .long{overflow-wrap:anywhere;min-width:9rem}
thead .n{white-space:normal}
tfoot td,tfoot th,.b td,.b th{font-weight:600}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;padding-right:0;padding-left:.6rem}
.n+:not(.n){padding-left:1.4rem}
.w{white-space:nowrap}
@media screen and (max-width:24rem){table{font-size:.86rem}tbody th{min-width:5rem}}
.rows{overflow-x:auto;margin:1rem 0;max-width:60rem}
.many{max-width:none}
.rows table{margin:0}
.rows:focus-visible{outline:2px solid var(--s0);outline-offset:2px}
.tall{max-height:26rem;overflow-y:auto;border-bottom:1px solid var(--line)}
.tall thead th{position:sticky;top:0;background:var(--paper)}
.tall tfoot th,.tall tfoot td{position:sticky;bottom:0;background:var(--paper);border-top:1px solid var(--line)}
@media print{@page{margin:14mm}body{margin:0;padding:0;max-width:none;font-size:10pt}\
.beside{display:block}.small{grid-template-columns:repeat(2,minmax(0,1fr));break-inside:avoid}\
.rows,.tall{overflow:visible;max-height:none}thead{display:table-header-group}\
tr,figure,h1,h2,h3{break-inside:avoid}h2,h3{break-after:avoid}.tall th,.tall td{position:static!important}\
thead .long,tbody th{min-width:0}thead th{overflow-wrap:anywhere}.many table{font-size:7.5pt}.n{padding-left:.3rem}\
.chart,figure{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
";

/// The rules of drawings for the style sheet of a page that is made elsewhere, with those of the script. All of
/// them are about what is within a `.chart` or a `figure`, the frame of a table, and the script's `.spoken`.
pub fn style() -> String {
    let chart = CHART.replace(":root,svg{", ".chart{");
    [&chart, FIGURE, FRAME, LIVE].concat()
}
