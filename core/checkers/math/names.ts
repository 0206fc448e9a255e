/** What letters, words, marks and commands stand for in mathematics. */

export const FUNCTIONS = [
  'sqrt',
  'exp',
  'ln',
  'sin',
  'cos',
  'tan',
  'cot',
  'sec',
  'csc',
  'arcsin',
  'arccos',
  'arctan',
  'sinh',
  'cosh',
  'tanh',
  'arcsinh',
  'arccosh',
  'arctanh',
  'abs',
  'factorial',
  'floor',
  'ceil',
] as const;
export type FunctionName = (typeof FUNCTIONS)[number];

/** Other names of functions. Every logarithm without a base is the natural one; `lg` and `log` keep their names until their base is read. */
const ALIASES: Readonly<Record<string, FunctionName | 'log' | 'lg'>> = {
  log: 'log',
  lg: 'lg',
  asin: 'arcsin',
  acos: 'arccos',
  atan: 'arctan',
  arsinh: 'arcsinh',
  arcosh: 'arccosh',
  artanh: 'arctanh',
};
export const functionNamed = (name: string): string | undefined =>
  FUNCTIONS.find((known) => known === name) ?? ALIASES[name];

export const GREEK = [
  'alpha',
  'beta',
  'gamma',
  'delta',
  'epsilon',
  'zeta',
  'eta',
  'theta',
  'iota',
  'kappa',
  'lambda',
  'mu',
  'nu',
  'xi',
  'pi',
  'rho',
  'sigma',
  'tau',
  'upsilon',
  'phi',
  'chi',
  'psi',
  'omega',
];
export const GREEK_LETTERS = 'αβγδεζηθικλμνξπρστυφχψω';
/** Names that are found inside a run of plain letters. Short Greek names are left to be products there. */
export const NAMES = [
  ...GREEK.filter((name) => name.length > 2 || name === 'pi' || name === 'mu'),
  'infinity',
];
const INNER = [...FUNCTIONS, ...Object.keys(ALIASES), ...NAMES].sort((a, b) => b.length - a.length);
export const SPLIT_LETTERS = new RegExp(`${INNER.join('|')}|[A-Za-z]`, 'g');

/** Words of at most three letters, which would be products of letters otherwise. */
const SHORT_WORDS = new Set(
  (
    'or and to no yes not is are the of per all any day odd one two six ten red cup min sec hrs hr lbs lb oz ft cm mm km nm kg mg ml dm ' +
    'sq cu mi yd in mph kph kmh km/h rad deg pct most ans gcd lcm gb mb kb tb px cal kcal rpm bpm fps ppm ev ghz mhz hp hz khz kw kwh kj mol atm pa kpa usd eur gbp inr rs th st nd rd dne if for pm am men mon tue wed thu fri sat sun jan feb mar apr may jun jul aug sep oct nov dec cc mA mV kV kN yen jpy yr yrs wk wks'
  ).split(' '),
);
/** Those of them that are words only after a number: alone they are products. */
const UNITS_ONLY = new Set(
  'yen yr wk in to am pm th st nd rd cc cm mm km nm kg mg ml dm sq cu mi yd hr oz lb ft rs pa kw kj hz gb mb kb tb px cal rpm bpm fps ppm ev ghz mhz hp'.split(
    ' ',
  ),
);

/** Is a run of letters in plain text a word, and no product of its letters? `after`: does a number stand before it? */
export function isWord(run: string, after: boolean): boolean {
  const lower = run.toLowerCase();
  if (UNITS_ONLY.has(lower)) return after;
  if (SHORT_WORDS.has(lower)) return true;
  if (/^(?:May|TRUE|FALSE|NONE|EVEN|NEITHER|BOTH|UNDEFINED)$/.test(run)) return true;
  if (run.length < 4 || functionNamed(run) || NAMES.includes(run) || !/[aeiouy]/i.test(run)) return false;
  // "abcd" and "ABCD" are products, or points: letters in their order, or capitals alone.
  if (/^[A-Z]+$/.test(run) || [...lower].every((letter, i) => i === 0 || letter > lower[i - 1]!))
    return false;
  const inner = INNER.find((name) => lower.startsWith(name));
  // sinx, cosAB, pir, thetax.
  return inner === undefined || lower.length - inner.length > 2;
}

/** Marks of one meaning. */
export const MARKS: Readonly<Record<string, string>> = {
  '−': '-',
  '–': '-',
  '—': '-',
  '×': '*',
  '·': '*',
  '⋅': '*',
  '∙': '*',
  '∗': '*',
  '÷': '/',
  '⁄': '/',
  '∕': '/',
  '∶': ':',
  '′': "'",
  '’': "'",
  '∣': '|',
  '‖': '|',
  º: '°',
  '˚': '°',
  '。': '.',
  '、': ',',
};
export const COMMAND_MARKS: Readonly<Record<string, string>> = {
  cdot: '*',
  times: '*',
  ast: '*',
  bullet: '*',
  div: '/',
  le: '≤',
  leq: '≤',
  leqslant: '≤',
  leqq: '≤',
  lt: '<',
  ge: '≥',
  geq: '≥',
  geqslant: '≥',
  geqq: '≥',
  gt: '>',
  ne: '≠',
  neq: '≠',
  approx: '≈',
  equiv: '≡',
  in: '∈',
  cup: '∪',
  cap: '∩',
  setminus: '∖',
  backslash: '∖',
  pm: '±',
  mp: '∓',
  mid: '|',
  vert: '|',
  lvert: '|',
  rvert: '|',
  Vert: '|',
  lVert: '|',
  rVert: '|',
  lbrace: '\\{',
  rbrace: '\\}',
  lbrack: '[',
  rbrack: ']',
  lparen: '(',
  rparen: ')',
  langle: '⟨',
  rangle: '⟩',
  colon: ':',
  prime: "'",
  degree: '°',
  textdegree: '°',
  circ: '°',
  '%': '%',
  '{': '\\{',
  '}': '\\}',
  '|': '|',
  '\\': '\\\\',
};
export const COMMAND_LETTERS: Readonly<Record<string, string>> = {
  infty: 'infinity',
  emptyset: '∅',
  varnothing: '∅',
  oslash: '∅',
  varepsilon: 'epsilon',
  vartheta: 'theta',
  varphi: 'phi',
  ell: 'ell',
  angle: '∠',
  measuredangle: '∠',
  triangle: '△',
  hbar: 'hbar',
  partial: '∂',
  Gamma: 'Gamma',
  Delta: 'Delta',
  Theta: 'Theta',
  Lambda: 'Lambda',
  Sigma: 'Sigma',
  Phi: 'Phi',
  Psi: 'Psi',
  Omega: 'Omega',
  Pi: 'Pi',
};
export const COMMAND_WORDS: Readonly<Record<string, string>> = {
  lor: 'or',
  vee: 'or',
  land: 'and',
  wedge: 'and',
};
/** Commands that say how something looks. */
export const LAYOUT =
  /^(?:left|right|middle|[bB]igg?[lrm]?|displaystyle|textstyle|scriptstyle|limits|nolimits|quad|qquad|enspace|thinspace|medspace|thickspace|negthinspace|nobreak|nonumber|strut|mathstrut|bf|bfseries|rm|it|sf|tt|em|small|large|Large|normalsize|centering|null|checkmark|square|blacksquare|qed|qedhere|,|;|:|!|>|<| |\(|\)|\[|\]|\$|\/)$/;
/** Fonts and frames with an argument that is read on: those in upright type, and the others. */
export const UPRIGHT =
  /^(?:text|textrm|textnormal|textup|textsf|texttt|textbf|textit|emph|mbox|hbox|mathrm|operatorname|unit|si)$/;
export const FRAMES =
  /^(?:mathbf|mathit|mathsf|mathtt|mathnormal|boldsymbol|bm|pmb|num|boxed|fbox|framebox|underline|cancel|smash|displaylines|ensuremath|mathord|mathop|mathbin)$/;
/** Commands whose argument is not shown, or is a colour. */
export const UNSEEN = /^(?:hspace|vspace|phantom|hphantom|vphantom|mkern|kern|color|textcolor|label|tag)$/;
/** Marks over letters: a name of its own with them. */
export const ACCENTS =
  /^(?:vec|hat|widehat|tilde|widetilde|bar|overline|dot|ddot|overrightarrow|overleftrightarrow|overarc|wideparen|mathbb|Bbb|mathcal|mathfrak|mathscr)$/;
