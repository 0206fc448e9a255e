/** Kinds of answers with other numbers, units and spellings than any list of pairs has; each value follows from how its text was made. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Extraction, extractAnswer } from '../../../core/checkers/extract.ts';
import { findChecker } from '../../../core/checkers/registry.ts';

function right(
  checker: string,
  reference: string,
  answer: string,
  extract: Extraction = 'whole',
  metadata: Record<string, unknown> = {},
): boolean {
  const check = findChecker(checker).prepare({ answer: reference, metadata });
  const found = extractAnswer(answer, [extract]);
  const said = found.ok ? check(found.value) : found;
  return said.ok && said.value;
}

/** The reference is right, and the others are not. */
function expectVerdicts(checker: string, answer: string, reference: string, others: readonly string[]): void {
  expect(right(checker, reference, answer), `${answer} is ${reference}`).toBe(true);
  expect(right(checker, answer, reference), `${reference} is ${answer}`).toBe(true);
  for (const other of others) expect(right(checker, other, answer), `${answer} is not ${other}`).toBe(false);
}

const small = fc.integer({ min: 2, max: 99 });
const UNITS = [
  'cm',
  'm',
  'km',
  'ft',
  'inches',
  'meters',
  'kg',
  'units',
  'miles',
  'sq cm',
  'yards',
  'apples',
  'L',
];
const unit = fc.constantFrom(...UNITS);

test('a unit with an exponent is left out whole', () => {
  const forms = [
    (u: string, e: number) => String.raw`\text{ ${u}}^${e}`,
    (u: string, e: number) => String.raw`\text{ ${u}}^{${e}}`,
    (u: string, e: number) => String.raw`\,\mathrm{${u}}^{${e}}`,
    (u: string, e: number) => String.raw`\mbox{ ${u}}^{-${e}}`,
    (u: string, e: number) => String.raw`~\text{${u}/s}^${e}`,
    (u: string, e: number) => String.raw`\ \textrm{${u}}\cdot\text{s}^{-${e}}`,
    (u: string, e: number) => String.raw`\,\frac{\text{${u}}}{\text{s}^${e}}`,
  ];
  fc.assert(
    fc.property(small, unit, fc.constantFrom(2, 3), fc.constantFrom(...forms), (n, u, e, form) => {
      expectVerdicts('math', `${n}${form(u, e)}`, `${n}`, [`${n ** e}`, `${n + 1}`]);
      expectVerdicts('math', String.raw`${n}\pi${form(u, e)}`, String.raw`${n}\pi`, [
        `${n}`,
        String.raw`${n}\pi^${e}`,
      ]);
    }),
  );
});

test('a mixed number is the sum of its parts, with the sign before both', () => {
  const proper = fc
    .record({ whole: small, bottom: fc.integer({ min: 2, max: 9 }), top: fc.integer({ min: 1, max: 8 }) })
    .filter(({ top, bottom }) => top < bottom);
  const forms = [
    (w: number, a: number, b: number) => String.raw`${w}\frac{${a}}{${b}}`,
    (w: number, a: number, b: number) => String.raw`${w}\tfrac${a}${b}`,
    (w: number, a: number, b: number) => String.raw`${w}\,\dfrac{${a}}{${b}}`,
    (w: number, a: number, b: number) => `${w} ${a}/${b}`,
    (w: number, a: number, b: number) => `${w} ${a}⁄${b}`,
  ];
  fc.assert(
    fc.property(
      proper,
      fc.constantFrom('', '-'),
      fc.constantFrom('', 'x = '),
      fc.constantFrom(...forms),
      ({ whole, top, bottom }, sign, name, form) => {
        const sum = `${sign}\\frac{${whole * bottom + top}}{${bottom}}`;
        const product = `${sign}\\frac{${whole * top}}{${bottom}}`;
        const apart = `\\frac{${sign}${whole * bottom}+${top}}{${bottom}}`;
        const others = [product, ...(sign ? [apart] : [])];
        expectVerdicts('math', `${name}${sign}${form(whole, top, bottom)}`, sum, others);
      },
    ),
  );
});

test('values that differ in any digit that they have are not the same, however small', () => {
  const power = fc.integer({ min: -400, max: 400 });
  const roots = fc.uniqueArray(fc.constantFrom(2, 3, 5, 6, 7, 10), { minLength: 2, maxLength: 2 });
  fc.assert(
    fc.property(power, roots, (e, [a, b]) => {
      const root = (n: number) => String.raw`\sqrt{${n}}\cdot 10^{${e}}`;
      expectVerdicts('math', root(a!), String.raw`10^{${e}}\sqrt{${4 * a!}}/2`, [
        root(b!),
        '0',
        `-${root(a!)}`,
      ]);
      const large = (n: number) => String.raw`10^{${Math.abs(e) % 60}}+\sqrt{${n}}`;
      expectVerdicts('math', large(a!), String.raw`\sqrt{${a}}+10^{${Math.abs(e) % 60}}`, [large(b!)]);
    }),
  );
});

test('thousands in any usual spelling are one number, and elements in brackets are not', () => {
  const separators = [
    ',',
    '{,}',
    String.raw`,\!`,
    String.raw`,\! `,
    String.raw`\,`,
    String.raw`\;`,
    String.raw`\ `,
    ' ',
    '\u2009',
    '\u202f',
    '\u00a0',
    "'",
    '’',
  ];
  fc.assert(
    fc.property(
      fc.integer({ min: 1000, max: 10 ** 12 }),
      fc.constantFrom(...separators),
      fc.constantFrom('', '.25'),
      (n, separator, decimals) => {
        const written = String(n).replace(/\B(?=(\d{3})+$)/g, separator.replaceAll('$', '$$$$'));
        expectVerdicts('math', `${written}${decimals}`, `${n}${decimals}`, [
          `${n + 1}${decimals}`,
          String(n).slice(-3),
        ]);
        expectVerdicts('number', `${written}${decimals}`, `${n}${decimals}`, [`${n + 1}${decimals}`]);
        expect(right('number', `${n}${decimals}`, `It is ${written}${decimals} in all.`, 'last-number')).toBe(
          true,
        );
      },
    ),
  );
  fc.assert(
    fc.property(fc.integer({ min: 100_000, max: 10 ** 9 }), (n) => {
      const [, head = '', last = ''] = /^(\d+)(\d{3})$/.exec(String(n)) ?? [];
      const indian = `${head.replace(/\B(?=(\d\d)+$)/g, ',')},${last}`;
      expectVerdicts('math', indian, `${n}`, [`${n + 1}`]);
      expectVerdicts('number', indian, `${n}`, [`${n + 1}`]);
    }),
  );
  const three = fc.integer({ min: 100, max: 999 });
  const brackets = fc.constantFrom(['(', ')'], ['[', ']'], ['\\{', '\\}'], ['\\left(', '\\right)']);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 999 }), three, brackets, (a, b, [open, close]) => {
      const written = `${open}${a},${b}${close}`;
      expectVerdicts('math', written, `${open}${a}, ${b}${close}`, [
        `${a}${b}`,
        `${open}${a}, ${b + 1}${close}`,
      ]);
    }),
  );
});

test('a percentage is its share, and its figure where the reference is more than a share', () => {
  const marks = fc.constantFrom('%', ' %', String.raw`\%`, String.raw`\text{ percent}`, ' percent');
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 999 }), marks, (n, mark) => {
      for (const reference of [`${n}`, `${n / 100}`, `${n}\\%`])
        expect(right('math', reference, `${n}${mark}`), reference).toBe(true);
      expect(right('math', `${n}\\%`, `${n}`)).toBe(true);
      expect(right('math', `${n}`, `${n / 100}`)).toBe(false);
      expect(right('math', `${n}`, `${n + 1}${mark}`)).toBe(false);
      // A share is not its own percentage.
      expect(right('math', `${n / 1000}`, `${n / 1000}${mark}`)).toBe(false);
      expect(right('number', `${n}`, `${n}%`)).toBe(true);
      expect(right('number', `${n}`, `${n + 1}%`)).toBe(false);
    }),
  );
});

test('the last number is read whole', () => {
  const two = fc.integer({ min: 10, max: 99 });
  const tail = fc.constantFrom('', '.', ' in all.', ' hours', '\n');
  const forms: [(n: number) => string, (n: number) => string, (n: number) => string][] = [
    [(n) => `.${n}`, (n) => `${n / 100}`, (n) => `${n}`],
    [(n) => `-.${n}`, (n) => `${-n / 100}`, (n) => `${n}`],
    // No number of two digits is a multiple of it.
    [(n) => String.raw`\frac{${n}}{101}`, (n) => `${n}/101`, () => '101'],
    [(n) => String.raw`-\dfrac{${n}}{101}`, (n) => `-${n}/101`, (n) => `${n}/101`],
    [(n) => `${n} 1/2`, (n) => `${n}.5`, () => '1/2'],
    [(n) => `${n}½`, (n) => `${n}.5`, (n) => `${n}`],
    [(n) => `${n}.5 × 10^3`, (n) => `${n}500`, () => '3'],
    [(n) => String.raw`${n}.5\times 10^{3}`, (n) => `${n}500`, () => '3'],
    [(n) => `${n}^2`, (n) => `${n * n}`, () => '2'],
    [(n) => `${n} cm^2`, (n) => `${n}`, () => '2'],
    [(n) => String.raw`${n}\text{ cm}^2`, (n) => `${n}`, () => '2'],
    [(n) => `$${n}.50`, (n) => `${n}.5`, () => '50'],
    [(n) => String.raw`${n}\%`, (n) => `${n}%`, () => '3'],
  ];
  fc.assert(
    fc.property(two, fc.constantFrom(...forms), tail, (n, [write, value, other], end) => {
      const text = `There are 3 of them, so the answer is ${write(n)}${end}`;
      expect(right('number', value(n), text, 'last-number'), text).toBe(true);
      expect(right('number', other(n), text, 'last-number'), text).toBe(false);
    }),
  );
});

test('equations say a value, alone and in lists', () => {
  const names = fc.constantFrom(
    'x',
    'AB',
    String.raw`\angle A`,
    String.raw`\text{Area}`,
    'f(x)',
    'P(A)',
    'S_{ABC}',
    "f'(x)",
    'm\\angle ABC',
    '|AB|',
  );
  fc.assert(
    fc.property(names, small, small, (name, n, m) => {
      expectVerdicts('math', `${name} = ${n}`, `${n}`, [`${n + 1}`]);
      expect(right('math', `${n}`, `${n + 1} = x`)).toBe(false);
      expect(right('math', `${n}`, `2x = ${n}`)).toBe(false);
      expect(right('math', `${n * m}`, String.raw`${n}\cdot ${m} = ${n * m}`)).toBe(true);
      expect(right('math', `${n * m + 1}`, String.raw`${n}\cdot ${m} = ${n * m + 1}`)).toBe(false);
      for (const list of [
        `x=-${n}, x=${m}`,
        String.raw`x=${m}\text{ or }x=-${n}`,
        `x = -${n} and x = ${m}`,
        String.raw`\{${m}, -${n}\}`,
      ]) {
        expect(right('math', `-${n}, ${m}`, list), list).toBe(true);
        expect(right('math', `-${n}, ${m + 1}`, list), list).toBe(false);
      }
      expect(right('math', `(${n}, ${m})`, `x=${n}, y=${m}`)).toBe(true);
      expect(right('math', `x=${n}, y=${m}`, `y=${m}, x=${n}`)).toBe(true);
      if (n !== m) expect(right('math', `x=${n}, y=${m}`, `x=${m}, y=${n}`)).toBe(false);
    }),
  );
});

test('sets of numbers are the same however they are said', () => {
  fc.assert(
    fc.property(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 1, max: 50 }), (a, width) => {
      const b = a + width;
      const outside = String.raw`(-\infty,${a}]\cup(${b},\infty)`;
      for (const same of [
        String.raw`(${b},\infty)\cup(-\infty,${a}]`,
        String.raw`x\le ${a}\text{ or }x>${b}`,
        String.raw`\mathbb{R}\setminus(${a},${b}]`,
      ])
        expectVerdicts('math', same, outside, [String.raw`(-\infty,${a})\cup(${b},\infty)`, `(${a},${b}]`]);
      for (const same of [
        String.raw`${a}\leq x<${b}`,
        String.raw`x\in[${a},${b})`,
        `${b} > x >= ${a}`,
        String.raw`\{x \mid ${a}\le x<${b}\}`,
      ])
        expectVerdicts('math', same, `[${a},${b})`, [`(${a},${b})`, `[${a},${b}]`, `[${a - 1},${b})`]);
    }),
  );
});

test('± says both values, and a base is part of its digits', () => {
  fc.assert(
    fc.property(small, fc.constantFrom(2, 3, 5, 7), (n, r) => {
      const both = String.raw`${n}\pm\sqrt{${r}}`;
      expectVerdicts('math', both, String.raw`${n}-\sqrt{${r}}, ${n}+\sqrt{${r}}`, [
        String.raw`${n}+\sqrt{${r}}`,
      ]);
      expectVerdicts('math', `x=${both}`, both, [String.raw`${n + 1}\pm\sqrt{${r}}`]);
      const digits = n.toString(r);
      expectVerdicts('math', `${digits}_${r}`, `${digits}_{${r}}`, [
        `${(n + 1).toString(r)}_${r}`,
        `${digits}_{${r + 1}}`,
        digits,
      ]);
    }),
  );
});

test('what stands around a value is no part of it', () => {
  const wraps = [
    (s: string) => `**${s}**`,
    (s: string) => `$${s}$`,
    (s: string) => String.raw`\(${s}\)`,
    (s: string) => String.raw`\text{${s}}`,
    (s: string) => String.raw`\mathbf{${s}}`,
    (s: string) => String.raw`{\bf ${s}}`,
    (s: string) => String.raw`\boxed{${s}}`,
    (s: string) => String.raw`\displaystyle ${s}`,
    (s: string) => String.raw`\left(${s}\right)`,
    (s: string) => `\`${s}\``,
    (s: string) => `The answer is ${s}.`,
    (s: string) => `**Answer:** ${s}`,
    (s: string) => `${s}°`,
    (s: string) => String.raw`${s}^{\circ}`,
    (s: string) => `${s} degrees`,
    (s: string) => String.raw`\$${s}`,
  ];
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 9999 }), fc.constantFrom(...wraps), (n, wrap) => {
      expectVerdicts('math', wrap(`${n}`), `${n}`, [`${n + 1}`]);
    }),
  );
  const choices = [
    ...wraps.slice(0, 11),
    (s: string) => `(${s})`,
    (s: string) => `[${s}]`,
    (s: string) => String.raw`\textbf{(${s})}`,
    (s: string) => `Option ${s}`,
    (s: string) => `${s},`,
    (s: string) => `**${s}.**`,
    (s: string) => String.raw`\boxed{\text{${s}}}`,
    (s: string) => `The correct answer is (${s}).`,
  ].filter((wrap) => !/left|display|bf /.test(wrap('A')));
  const letters = fc.uniqueArray(fc.constantFrom(...'ABCDE'), { minLength: 2, maxLength: 2 });
  fc.assert(
    fc.property(letters, fc.constantFrom(...choices), ([a, b], wrap) => {
      expect(right('choice', a!, wrap(a!)), wrap(a!)).toBe(true);
      expect(right('choice', b!, wrap(a!)), wrap(a!)).toBe(false);
      for (const both of [`${a} or ${b}`, `${a}, ${b}`, `${a}) or ${b})`])
        expect(right('choice', a!, both), both).toBe(false);
    }),
  );
});

test('degrees are angles in functions', () => {
  const sines: [number, string][] = [
    [0, '0'],
    [30, '1/2'],
    [45, String.raw`\frac{\sqrt2}{2}`],
    [60, String.raw`\frac{\sqrt3}{2}`],
    [90, '1'],
    [210, '-1/2'],
  ];
  const marks = fc.constantFrom(
    String.raw`^\circ`,
    String.raw`^{\circ}`,
    '°',
    String.raw`\degree`,
    String.raw` \text{ degrees}`,
  );
  fc.assert(
    fc.property(fc.constantFrom(...sines), marks, fc.boolean(), ([angle, sine], mark, bracket) => {
      const argument = bracket ? `(${angle}${mark})` : ` ${angle}${mark}`;
      expect(right('math', sine, String.raw`\sin${argument}`), argument).toBe(true);
      expect(
        right('math', sine, String.raw`\cos${argument.replace(`${angle}`, `${90 - angle}`)}`),
        argument,
      ).toBe(true);
      if (angle) expect(right('math', sine, String.raw`\sin ${angle}`)).toBe(false);
    }),
  );
});

test('powers of ten in any notation', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 999 }), fc.integer({ min: -12, max: 23 }), (digits, e) => {
      const mantissa = `${Math.floor(digits / 100)}.${String(digits % 100).padStart(2, '0')}`;
      const forms = [
        String.raw`${mantissa}\times10^{${e}}`,
        String.raw`${mantissa}\cdot 10^{${e}}`,
        `${mantissa}e${e}`,
        `${mantissa}E${e < 0 ? '-' : '+'}${String(Math.abs(e)).padStart(2, '0')}`,
        `${mantissa} × 10^${e}`,
        `${mantissa} x 10^${e}`,
        `${mantissa}*10**${e}`,
      ];
      const value = e < 0 ? `${digits}/1${'0'.repeat(2 - e)}` : `${digits}${'0'.repeat(e)}/100`;
      for (const form of forms) {
        expectVerdicts('math', form, value, [`(${value})+1`, '0']);
        if (!form.includes('**')) expect(right('number', value, form), form).toBe(true);
      }
    }),
    { numRuns: 40 },
  );
});

test('JSON in a fence, and names by pattern', () => {
  const schema = {
    type: 'object',
    patternProperties: { '^S_': { type: 'string' } },
    additionalProperties: { type: 'integer' },
  };
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z]{1,8}$/), fc.integer(), (name, n) => {
      const fenced = (value: unknown) => `Here it is:\n\`\`\`json\n${JSON.stringify(value)}\n\`\`\`\n`;
      const valid = (value: unknown) => right('json-schema', '', fenced(value), 'whole', { schema });
      expect(valid({ [`S_${name}`]: 'a', [name]: n })).toBe(true);
      expect(valid({ [`S_${name}`]: n })).toBe(false);
      expect(valid({ [name]: 'a' })).toBe(false);
    }),
  );
  const isOf = (format: string, text: string) =>
    right('json-schema', '', JSON.stringify(text), 'whole', { schema: { type: 'string', format } });
  for (const uri of ['http://a.b/c', 'urn:isbn:0451450523', 'mailto:a@b.c', 'https://x.y/?q=1#z'])
    expect(isOf('uri', uri), uri).toBe(true);
  for (const text of ['a b', '/path', 'http://a b', '']) expect(isOf('uri', text), text).toBe(false);
  for (const host of ['example.org', 'a', 'a-b.c1']) expect(isOf('hostname', host), host).toBe(true);
  for (const text of ['-a.b', 'a..b', 'a_b', `${'a'.repeat(64)}.b`])
    expect(isOf('hostname', text), text).toBe(false);
});

test('the text after #### ends with its line', () => {
  const after = fc.constantFrom(
    '',
    '\n',
    '\n\nQuestion: next?\n#### 7',
    '\nQ: 5 and 2?\nA: 7\n#### 7',
    '\n\nSome more words 7.',
  );
  fc.assert(
    fc.property(
      fc.integer({ min: 10, max: 99_999 }),
      after,
      fc.constantFrom('', '$', '**'),
      (n, rest, mark) => {
        const close = mark === '**' ? mark : '';
        const text = `3 + 4 = 7\n#### ${mark}${n}${close}${rest}`;
        expect(right('number', `${n}`, text, 'hashes'), text).toBe(true);
        expect(right('number', '7', text, 'hashes'), text).toBe(false);
      },
    ),
  );
});

const DIGITS_OF: readonly number[] = [0x660, 0x6f0, 0x966, 0x9e6, 0xbe6, 0xe50, 0xff10, 0x1d7d8];

test('digits of any script are digits', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 ** 6 }), fc.constantFrom(...DIGITS_OF), (n, zero) => {
      const written = String(n).replace(/\d/g, (one) => String.fromCodePoint(zero + Number(one)));
      for (const checker of ['number', 'math']) expectVerdicts(checker, written, `${n}`, [`${n + 1}`]);
    }),
  );
});

test('a sign of money is its currency, and a cent a hundredth of it', () => {
  const currencies = fc.constantFrom(
    ['$', 'dollars'] as const,
    ['€', 'euros'] as const,
    ['£', 'pounds'] as const,
  );
  fc.assert(
    fc.property(small, currencies, currencies, (n, [sign, name], [other]) => {
      const latex = sign === '$' ? '\\$' : sign;
      for (const written of [`${sign}${n}`, `${latex}${n}.00`, `${latex} ${n} \\text{ per day}`])
        expectVerdicts('math', written, `${n} ${name}`, [
          `${n} kg`,
          ...(other === sign ? [] : [`${other}${n}`]),
        ]);
      expectVerdicts('number', `${sign}${n}`, `${n} ${name}`, other === sign ? [] : [`${other}${n}`]);
      if (sign !== '£') expectVerdicts('math', `${latex}${n}`, `${100 * n} cents`, [`${n} cents`]);
    }),
  );
});

test('an hour with its half of the day is a time', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 11 }), fc.constantFrom('am', 'AM', 'a.m.'), (hour, half) => {
      const other = half.replace(/a/i, (letter) => (letter === 'a' ? 'p' : 'P'));
      expectVerdicts('math', `${hour} ${half}`, `${hour}:00 ${half}`, [
        `${hour} ${other}`,
        `${hour + 1} ${half}`,
      ]);
      expectVerdicts('math', `${hour} ${other}`, `${hour + 12}:00`, [`${hour} ${half}`]);
    }),
  );
});

test('a day of a month is one in either order', () => {
  const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August'];
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 20 }), fc.nat(months.length - 2), (day, i) => {
      const [month, next] = [months[i]!, months[i + 1]!];
      for (const written of [
        `${day} ${month}`,
        `${month} ${day}th`,
        `the ${day}th of ${month}`,
        `${month.slice(0, 3)}. ${day}`,
      ])
        expectVerdicts('math', written, `${month} ${day}`, [`${month} ${day + 1}`, `${next} ${day}`]);
    }),
  );
});

test('any usual letter may be the constant of integration', () => {
  fc.assert(
    fc.property(small, fc.constantFrom('c', 'k', 'K', 'C_1'), (n, letter) => {
      expectVerdicts('math', `${n}x^2+${letter}`, `${n}x^2+C`, [`${n}x^2`, `${n + 1}x^2+C`, `${n}x^2+C+x`]);
    }),
  );
});

test('words behind a number are a unit, and those that change it are none', () => {
  const changing = [
    'dozen',
    'gross',
    'score',
    'lakh',
    'crore',
    'million',
    'twelfths',
    'or more',
    'and a half',
    'out of 100',
  ];
  fc.assert(
    fc.property(small, unit, fc.constantFrom(...changing), (n, u, word) => {
      for (const checker of ['number', 'math']) {
        expectVerdicts(checker, `${n} ${u}`, `${n}`, [`${n + 1}`]);
        expect(right(checker, `${n}`, `${n} ${word}`), `${n} ${word}`).toBe(false);
      }
    }),
  );
});
