/** Degrees: their signs, minutes and seconds of arc, and the letters of temperatures. */
import type { Token } from './token.ts';

/** Is it the letter of a scale of temperatures, behind a degree sign? */
const isScale = ({ kind, text }: Token, before: Token | undefined, after: Token | undefined): boolean =>
  kind === 'letter' &&
  /^[CFK]$/.test(text) &&
  before?.text === '°' &&
  (!after || /^[,;.)]$/.test(after.text));

/** The degree sign in its raised forms, `^\circ`, `^{\circ}`, `^°`, as one mark. */
export function withDegrees(tokens: readonly Token[]): Token[] {
  const out: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const texts = tokens.slice(i, i + 4).map(({ text }) => text);
    if (texts[0] === '^' && (texts[1] === '°' || (texts[1] === 'o' && tokens[i - 1]?.kind === 'number')))
      i += 1;
    else if (texts[0] === '^' && texts[1] === '{' && texts[2] === '°' && texts[3] === '}') i += 3;
    else {
      out.push(tokens[i]!);
      continue;
    }
    out.push({ kind: 'mark', text: '°', space: false });
  }
  return out.flatMap((token, i) => {
    if (isScale(token, out[i - 1], out[i + 1])) return [];
    const next = out[i + 1];
    return [next && isScale(next, token, out[i + 2]) ? { ...token, written: next.text } : token];
  });
}

const PRIMES: Readonly<Record<string, number>> = { "'": 1, '"': 2, '″': 2 };

/** The primes that stand at a position, raised or not; `end`: where they end. */
function primesAt(tokens: readonly Token[], at: number): { readonly count: number; readonly end: number } {
  let end = at;
  const raised = tokens[end]?.text === '^';
  if (raised) end++;
  const braced = raised && tokens[end]?.text === '{';
  if (braced) end++;
  let count = 0;
  for (; Object.hasOwn(PRIMES, tokens[end]?.text ?? ''); end++) count += PRIMES[tokens[end]!.text]!;
  return braced && tokens[end]?.text !== '}' ? { count: 0, end: at } : { count, end: braced ? end + 1 : end };
}

/** Degrees with minutes and seconds of arc, 63° 45′ 18″, as one number of degrees. */
export function withMinutes(tokens: readonly Token[]): Token[] {
  const out: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!;
    out.push(token);
    if (token.text !== '°' || tokens[i - 1]?.kind !== 'number') continue;
    let value = tokens[i - 1]!.value!;
    for (const [count, parts] of [
      [1, 60],
      [2, 3600],
    ] as const) {
      const part = tokens[i + 1];
      const primes = primesAt(tokens, i + 2);
      if (part?.kind !== 'number' || primes.count !== count) continue;
      value = value.add(part.value!.div(parts));
      i = primes.end - 1;
    }
    out.splice(-2, 2, { ...out.at(-2)!, value, bare: false }, token);
  }
  return out;
}
