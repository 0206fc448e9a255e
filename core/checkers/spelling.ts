/** Spellings of numbers and signs that mean the same as plain ones: forms of other character sets, and numbers in English words. */

const INVISIBLE = /[\u00ad\u200b-\u200d\u2060\ufeff]/g;
const HYPHENS = /[\u2010\u2011\ufe63]/g;
const FULL_WIDTH = /[\uff01-\uff5e]/g;
const OTHER_DIGITS = /(?![0-9])\p{Nd}/gu;
/** Arabic signs of decimals, of thousands and of percent, and wide ones that are no punctuation beside digits. */
const OTHER_SIGNS: Readonly<Record<string, string>> = { '٫': '.', '٬': ',', '٪': '%', '．': '.', '％': '%' };

/** A digit of any script; the digits of each follow one another. */
function digit(char: string): string {
  let zero = char.codePointAt(0)!;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return String((char.codePointAt(0)! - zero) % 10);
}

/** ASCII in place of digits of other scripts and of the signs in numbers. */
export const plainDigits = (text: string): string =>
  text.replace(OTHER_DIGITS, digit).replace(/[٫٬٪．％]/g, (char) => OTHER_SIGNS[char]!);

/** Composed (NFC), with ASCII in place of its full-width forms, of other hyphens and of other scripts’ digits, and without characters that are not seen. */
export const plainSpelling = (text: string): string =>
  plainDigits(text.normalize('NFC'))
    .replace(INVISIBLE, '')
    .replace(HYPHENS, '-')
    .replace(FULL_WIDTH, (char) => String.fromCharCode(char.charCodeAt(0) - 0xfee0))
    .replace(/\u3000/g, ' ');

const list = (words: string): readonly string[] => words.split(' ');
const ONES = list(
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
);
const TENS = list('twenty thirty forty fifty sixty seventy eighty ninety');
const SCALES = list('thousand million billion trillion');
const PARTS: Readonly<Record<string, number>> = {
  half: 2,
  halves: 2,
  quarter: 4,
  ...Object.fromEntries(
    list('third fourth fifth sixth seventh eighth ninth tenth').map((word, i) => [word, i + 3]),
  ),
  hundredth: 100,
};

const WORD = `(?:${[...ONES, ...TENS, ...SCALES, 'hundred'].sort((a, b) => b.length - a.length).join('|')})`;
const JOIN = String.raw`(?:\s*-\s*|\s+|(?<=hundred|thousand|million|billion|trillion)\s+and\s+)`;
const CARDINAL = `${WORD}(?:${JOIN}${WORD})*`;
const PART = String.raw`(?:\s*-\s*|\s+)(half|halves|quarter|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|hundredth)s?`;
const NUMERAL = new RegExp(
  String.raw`(?<![\\A-Za-z])(${CARDINAL})(?:${PART}|\s+and\s+(?:(${CARDINAL})|an?)${PART})?(?![A-Za-z])`,
  'gi',
);
/** Digits before a part in words: "2 and a half", "3 quarters". */
const COUNTED =
  /(?<![\d.,/\\A-Za-z^_{])(\d+)(?:\s+and\s+an?\s+(half|third|quarter|fourth|fifth|sixth|seventh|eighth|ninth|tenth)|(?:\s+|-)(halves|(?:third|quarter|fourth|fifth|sixth|seventh|eighth|ninth|tenth|hundredth)(?=s))s?)(?![A-Za-z])/gi;
const SIGN_WORD = /(?<![\\A-Za-z])(?:minus|negative)\s+(?=[\d.$\\])/gi;
const PART_ALONE = new RegExp(String.raw`^\s*(?:an?)?${PART}\s*[.!]?\s*$`, 'i');

/** The value of the words of a whole number; null where they are no number together, as "two three". */
function cardinal(text: string): bigint | null {
  let total = 0n;
  let current = 0n;
  let lastScale = SCALES.length;
  // What a word may add to the words before it: less than 10 after "twenty", less than 100 after "hundred".
  let room = 1000n;
  for (const word of text.toLowerCase().split(/[\s-]+(?:and\s+)?/)) {
    const scale = SCALES.indexOf(word);
    if (scale >= 0) {
      if (current === 0n || scale >= lastScale) return null;
      total += current * 1000n ** BigInt(scale + 1);
      [current, room, lastScale] = [0n, 1000n, scale];
    } else if (word === 'hundred') {
      if (current < 1n || current > 99n) return null;
      [current, room] = [current * 100n, 100n];
    } else {
      const one = ONES.indexOf(word);
      const value = BigInt(one >= 0 ? one : 10 * (TENS.indexOf(word) + 2));
      if (value >= room || (value === 0n && text.length > word.length)) return null;
      current += value;
      room = one >= 0 ? 0n : 10n;
    }
  }
  return total + current;
}

const partOf = (word: string): number => PARTS[word.toLowerCase()]!;

/** The text with its numbers in digits: "twenty-one apples" as "21 apples", "two thirds" as "2/3", "seven and a half" as "7 1/2", "minus 5" as "-5". */
export function withDigits(text: string): string {
  const alone = PART_ALONE.exec(` ${text}`);
  if (alone) return `1/${partOf(alone[1]!)}`;
  return text
    .replace(NUMERAL, (whole: string, first: string, part?: string, top?: string, bottom?: string) => {
      const value = cardinal(first);
      if (value === null) return whole;
      if (part) return `${value}/${partOf(part)}`;
      if (!bottom) return String(value);
      const above = top === undefined ? 1n : cardinal(top);
      return above === null ? whole : `${value} ${above}/${partOf(bottom)}`;
    })
    .replace(COUNTED, (_, count: string, more?: string, parts?: string) =>
      more ? `${count} 1/${partOf(more)}` : `${count}/${partOf(parts!)}`,
    )
    .replace(SIGN_WORD, '-');
}
