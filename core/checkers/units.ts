/**
 * Units of measurement: what a unit that is written behind a number is worth in base units, as exact fractions, and how values of two units compare.
 * A unit that is not in the table is not known. Where a name has several meanings, as an ounce of mass and of volume, all of them are kept.
 */
import Fraction from 'fraction.js';

const list = (words: string): string[] => words.split(' ').filter(Boolean);

/** Symbols and names of prefixes, and their powers of ten. */
const PREFIXES: readonly (readonly [symbol: string, name: string, power: number])[] = [
  ['T', 'tera', 12],
  ['G', 'giga', 9],
  ['M', 'mega', 6],
  ['k', 'kilo', 3],
  ['K', 'kilo', 3],
  ['h', 'hecto', 2],
  ['d', 'deci', -1],
  ['c', 'centi', -2],
  ['m', 'milli', -3],
  ['µ', 'micro', -6],
  ['n', 'nano', -9],
  ['p', 'pico', -12],
];

/**
 * Symbols, singular names, prefixes of both, and the value in units of the table; without one it is a base unit. The cases of symbols are told apart
 * where they differ, those of names are not.
 */
const TABLE: readonly (readonly [symbols: string, names: string, prefixes: string, value: string])[] = [
  ['m', 'metre meter', 'khdcmµnp', ''],
  ['g', 'gram gramme gm', 'kdcmµn', ''],
  ['s', 'second sec', 'mµnp', ''],
  ['A', 'ampere amp', 'kmµn', ''],
  ['K', 'kelvin', 'm', ''],
  ['mol', 'mole', 'km', ''],
  ['cd', 'candela', '', ''],
  ['rad', 'radian', 'm', ''],
  ['rev', 'revolution', '', ''],
  ['rev', 'revolution', '', '2 π rad'],
  ['bit b', 'bit', 'TGMkK', ''],
  ['B', 'byte', 'TGMkK', '8 bit'],
  ['', 'KiB kibibyte', '', '1024 byte'],
  ['', 'MiB mebibyte', '', '1024 KiB'],
  ['', 'GiB gibibyte', '', '1024 MiB'],
  ['°C C', 'celsius centigrade', '', ''],
  ['°F F', 'fahrenheit', '', ''],
  ['', 'month mo', '', ''],
  ['', 'dollar usd', '', ''],
  ['', 'euro eur', '', ''],
  ['', 'gbp pound', '', ''],
  ['', 'rupee inr', '', ''],
  ['', 'yen jpy', '', ''],
  ['', 'cent', '', '1/100 dollar'],
  ['', 'cent', '', '1/100 euro'],
  ['', 'pence', '', '1/100 gbp'],
  ['m', 'minute min', '', '60 s'],
  ['h', 'hour hr', '', '60 minute'],
  ['', 'day', '', '24 h'],
  ['', 'week wk', '', '7 day'],
  ['', 'fortnight', '', '14 day'],
  ['', 'year yr', '', '12 month'],
  ['', 'year yr', '', '365 day'],
  ['', 'decade', '', '10 year'],
  ['', 'century centurie', '', '100 year'],
  ['', 'inch inche in', '', '254/10000 m'],
  ['', 'foot feet ft', '', '12 inch'],
  ['', 'yard yd', '', '3 foot'],
  ['', 'mile mi', '', '1760 yard'],
  ['', 'nmi', '', '1852 m'],
  ['', 'micron', '', '1/1000000 m'],
  ['Å', 'angstrom', '', '1/10000000000 m'],
  ['ha', 'hectare', '', '10000 m^2'],
  ['', 'acre', '', '4840 yard^2'],
  ['', 'sqft', '', '1 foot^2'],
  ['', 'sqm', '', '1 m^2'],
  ['L l', 'litre liter', 'hdcmµ', '1/1000 m^3'],
  ['', 'cc', '', '1 cm^3'],
  ['', 'gallon gal', '', '231 inch^3'],
  ['', 'quart qt', '', '1/4 gallon'],
  ['', 'pint', '', '1/2 quart'],
  ['', 'cup', '', '1/2 pint'],
  ['', 'floz ounce oz', '', '1/8 cup'],
  ['', 'tablespoon tbsp', '', '1/2 floz'],
  ['', 'teaspoon tsp', '', '1/3 tbsp'],
  ['', 'pound lb', '', '45359237/100000 g'],
  ['', 'ounce oz', '', '1/16 lb'],
  ['t', 'tonne ton', '', '1000 kg'],
  ['', 'ton', '', '2000 lb'],
  ['', 'mph', '', '1 mile/h'],
  ['', 'kph kmh kmph', '', '1 km/h'],
  ['', 'fps', '', '1 foot/s'],
  ['kn', 'knot', '', '1 nmi/h'],
  ['Hz', 'hertz', 'TGMkm', '1 s^-1'],
  ['Hz', 'hertz', 'TGMkm', '1 rev s^-1'],
  ['', 'rpm', '', '1 rev/minute'],
  ['°', '', '', '1/180 π rad'],
  ['°', '', '', '1 °C'],
  ['°', '', '', '1 °F'],
  ['N', 'newton', 'Mkmµ', '1 kg m s^-2'],
  ['dyn', 'dyne', '', '1/100000 N'],
  ['', 'pound lb lbf', '', '980665/100000 m s^-2 (45359237/100000 g)'],
  ['J', 'joule', 'GMkmµ', '1 N m'],
  ['cal', 'calorie', 'k', '4184/1000 J'],
  ['eV', 'electronvolt', 'GMkm', '1602176634/10000000000000000000000000000 J'],
  ['', 'btu', '', '105505585262/100000000 J'],
  ['W', 'watt', 'TGMkmµ', '1 J/s'],
  ['Wh', '', 'TGMk', '1 W h'],
  ['', 'horsepower hp', '', '550 foot lbf/s'],
  ['Pa', 'pascal', 'GMkhm', '1 N m^-2'],
  ['bar', 'bar', 'm', '100000 Pa'],
  ['atm', 'atmosphere', '', '101325 Pa'],
  ['torr mmHg', 'torr', '', '1/760 atm'],
  ['', 'psi', '', '1 lbf/inch^2'],
  ['C', 'coulomb', 'mµnp', '1 A s'],
  ['Ah', '', 'm', '1 A h'],
  ['V', 'volt', 'Mkmµ', '1 W/A'],
  ['Ω', 'ohm', 'Mkmµ', '1 V/A'],
  ['F', 'farad', 'mµnp', '1 C/V'],
  ['S', 'siemens', 'mµ', '1 Ω^-1'],
  ['Wb', 'weber', 'm', '1 V s'],
  ['T', 'tesla', 'mµ', '1 Wb m^-2'],
  ['H', 'henry', 'mµ', '1 Wb/A'],
];

/** `factor` times the powers of base units in `powers`; that of π is among them. */
interface Reading {
  readonly factor: Fraction;
  readonly powers: Readonly<Record<string, number>>;
}
/** What a name stands for: so many of an entry of the table. */
interface Named {
  readonly factor: Fraction;
  readonly entry: number;
}

const tenTo = (power: number) =>
  power < 0 ? new Fraction(1n, 10n ** BigInt(-power)) : new Fraction(10n ** BigInt(power));

let index: { exact: Map<string, Named[]>; folded: Map<string, Named[]> } | null = null;

/** Symbols as they are written, and all names and symbols in lower case. */
function names(): NonNullable<typeof index> {
  if (index) return index;
  index = { exact: new Map(), folded: new Map() };
  const { exact, folded } = index;
  const add = (map: Map<string, Named[]>, name: string, named: Named) =>
    map.set(name, [...(map.get(name) ?? []), named]);
  TABLE.forEach(([symbols, words, prefixes], entry) => {
    for (const [symbol, name, power] of [['', '', 0] as const, ...PREFIXES]) {
      if (symbol && !prefixes.includes(symbol)) continue;
      // Prefixes of bytes are powers of 1000, or of 1024 as is usual.
      const binary = prefixes.includes('K') && power > 0 ? [new Fraction(1024n ** BigInt(power / 3))] : [];
      for (const factor of [tenTo(power), ...binary]) {
        for (const one of list(symbols)) {
          add(exact, `${symbol}${one}`, { factor, entry });
          if (`${symbol}${one}`.length > 1) add(folded, `${symbol}${one}`.toLowerCase(), { factor, entry });
        }
        for (const one of list(words))
          for (const ending of ['', 's'])
            add(folded, `${name}${one}${ending}`.toLowerCase(), { factor, entry });
      }
    }
  });
  return index;
}

const ONE: Reading = { factor: new Fraction(1), powers: {} };
/** A unit with more factors is not known. */
const MOST_FACTORS = 8;
/** The most meanings that are followed up. */
const MOST_READINGS = 16;

const product = (a: Reading, b: Reading, times: number): Reading => {
  const powers: Record<string, number> = { ...a.powers };
  for (const [base, power] of Object.entries(b.powers)) powers[base] = (powers[base] ?? 0) + times * power;
  return { factor: a.factor.mul(b.factor.pow(times)!), powers };
};
const products = (a: readonly Reading[], b: readonly Reading[], times: number): Reading[] =>
  a.flatMap((x) => b.map((y) => product(x, y, times))).slice(0, MOST_READINGS);

const entries = new Map<number, readonly Reading[]>();

function ofEntry(entry: number): readonly Reading[] {
  const known = entries.get(entry);
  if (known) return known;
  const [symbols, words, , value] = TABLE[entry]!;
  const base = list(symbols)[0] ?? list(words)[0]!;
  const found = value ? (new UnitReader(value).whole() ?? []) : [{ ...ONE, powers: { [base]: 1 } }];
  entries.set(entry, found);
  return found;
}

const SQUARED: Readonly<Record<string, number>> = {
  square: 2,
  squared: 2,
  sq: 2,
  cubic: 3,
  cubed: 3,
  cu: 3,
};

/** Thrown where a unit is not known. */
class Unknown extends Error {}

/** Reads products and quotients of names with exponents, as in `m/s^2`, `sq ft`, `miles per hour`, `frac {kg} {m^3}`. */
class UnitReader {
  readonly #parts: readonly string[];
  #at = 0;
  #factors = 0;

  constructor(text: string) {
    this.#parts = text.match(/[A-Za-zµΩÅ°π]+|\d+(?:\/\d+)?|\S/g) ?? [];
  }

  whole(): readonly Reading[] | null {
    try {
      const found = this.#product();
      return this.#at < this.#parts.length ? null : found;
    } catch (error) {
      if (error instanceof Unknown) return null;
      throw error;
    }
  }

  #take(...wanted: readonly string[]): string | undefined {
    const part = this.#parts[this.#at];
    if (part === undefined || !wanted.includes(part)) return undefined;
    this.#at++;
    return part;
  }

  #product(): readonly Reading[] {
    let found: readonly Reading[] = [ONE];
    while (this.#at < this.#parts.length && !/^[)}]$/.test(this.#parts[this.#at]!)) {
      const sign = this.#take('*', '/', 'per');
      found = products(found, this.#power(), sign === '/' || sign === 'per' ? -1 : 1);
    }
    return found;
  }

  #power(): readonly Reading[] {
    if (++this.#factors > MOST_FACTORS) throw new Unknown();
    const before = this.#take('square', 'sq', 'cubic', 'cu');
    const base = this.#base();
    const after = this.#take('squared', 'cubed');
    const exponent = this.#exponent() * (SQUARED[before ?? ''] ?? 1) * (SQUARED[after ?? ''] ?? 1);
    if (exponent === 1) return base;
    if (!Number.isInteger(exponent) || Math.abs(exponent) > 6) throw new Unknown();
    return base.map((one) => product(ONE, one, exponent));
  }

  #exponent(): number {
    if (!this.#take('^')) return 1;
    const braced = this.#take('{');
    const sign = this.#take('-') ? -1 : 1;
    const value = sign * Number(this.#parts[this.#at++]);
    if (braced && !this.#take('}')) throw new Unknown();
    return value;
  }

  #group(close: string): readonly Reading[] {
    const found = this.#product();
    if (!this.#take(close)) throw new Unknown();
    return found;
  }

  #base(): readonly Reading[] {
    if (this.#take('(')) return this.#group(')');
    if (this.#take('frac')) {
      const parts = [0, 1].map(() => (this.#take('{') ? this.#group('}') : []));
      return products(parts[0]!, parts[1]!, -1);
    }
    const part = this.#parts[this.#at++] ?? '';
    if (part === 'π') return [{ ...ONE, powers: { π: 1 } }];
    if (/^[1-9]/.test(part)) return [{ ...ONE, factor: new Fraction(part) }];
    let found = named(part);
    const sides = /^[A-Za-z]{2}$/.test(part) ? [...part].map(named) : null;
    // Letters side by side may be a product, and a negative exponent that of the last: Nm, ms^{-1}.
    if (sides && /^\^\{?-/.test(this.#parts.slice(this.#at, this.#at + 3).join(''))) {
      const exponent = this.#exponent();
      found = [
        ...found.map((one) => product(ONE, one, exponent)),
        ...products(sides[0]!, sides[1]!, exponent),
      ];
    } else if (sides && !names().exact.has(part)) found = [...found, ...products(sides[0]!, sides[1]!, 1)];
    if (found.length === 0) throw new Unknown();
    return found;
  }
}

function named(name: string): readonly Reading[] {
  const { exact, folded } = names();
  const found = exact.get(name) ?? [];
  const others = found.length > 0 ? [] : (folded.get(name.toLowerCase()) ?? []);
  return [...found, ...others].flatMap(({ factor, entry }) =>
    ofEntry(entry).map((one) => ({ ...one, factor: one.factor.mul(factor) })),
  );
}

/** Base units that say nothing beside others: the currency of a wage, and the radian of a speed. */
const ALONE = ['dollar', 'euro', 'gbp', 'rupee', 'rad'];
/** Differences of temperatures, as in J/(kg °C), in kelvin. */
const DEGREES: Readonly<Record<string, Fraction>> = { '°C': new Fraction(1), '°F': new Fraction(5n, 9n) };

function finished({ factor, powers }: Reading): Reading {
  const kept = Object.entries(powers).filter(([, power]) => power !== 0);
  const apart = kept.filter(([base]) => base !== 'π');
  if (apart.length < 2) return { factor, powers: Object.fromEntries(kept) };
  let found: Reading = { factor, powers: {} };
  for (const [base, power] of kept) {
    const degree = DEGREES[base];
    const plain: Reading = degree ? { factor: degree, powers: { K: 1 } } : { ...ONE, powers: { [base]: 1 } };
    if (!ALONE.includes(base)) found = product(found, plain, power);
  }
  return found;
}

/** Longer texts are no units. */
const LONGEST = 80;
/** Words behind a unit that leave it as it is: 10 cm long. */
const BEHIND = / (?:long|wide|tall|high|deep|thick|away|apart|ago|later|old|(?:in )?(?:total|all))$/;
/** The degrees of a temperature, whose scale says all. */
const SCALE = /^°\s*(?=(?:celsius|centigrade|fahrenheit|kelvin)$)/i;

/** What was read last: lists compare the same units many times. */
const recent = new Map<string, readonly Reading[]>();

function readingsOf(unit: string): readonly Reading[] {
  if (unit.length > LONGEST) return [];
  const known = recent.get(unit);
  if (known) return known;
  const plain = ` ${unit}`
    .replace(BEHIND, '')
    .trim()
    .replace(SCALE, '')
    .replace(/^fluid (?:oz|ounces?)$/i, 'floz');
  const found = plain === '' ? [] : (new UnitReader(plain).whole() ?? []).map(finished);
  if (recent.size >= 100) recent.clear();
  recent.set(unit, found);
  return found;
}

/** What a value is multiplied by, `factor · π^pi`. */
export interface Conversion {
  readonly factor: Fraction;
  readonly pi: number;
}

const dimension = ({ powers }: Reading): string =>
  Object.entries(powers)
    .flatMap(([base, power]) => (base !== 'π' && power ? [`${base}${power}`] : []))
    .sort()
    .join(' ');

/** Signs of money, and the units that they are. */
const SIGNS: Readonly<Record<string, string>> = {
  $: 'dollar',
  '€': 'euro',
  '£': 'gbp',
  '¥': 'yen',
  '₹': 'rupee',
  '¢': 'cent',
};
export const isMoneySign = (text: string): boolean => Object.hasOwn(SIGNS, text);
const CURRENCY = /\b(?:dollars?|usd|euros?|eur|pounds?|gbp|rupees?|inr|yen|jpy|cents?|pence)\b/i;

/** A unit of money by its words: the sign, or the word beside it, alone where `alone` says so. */
function moneyIn(unit: string, alone: boolean): string {
  const sign = isMoneySign(unit.charAt(0)) ? SIGNS[unit.charAt(0)]! : undefined;
  const rest =
    sign === undefined
      ? unit
      : unit
          .slice(1)
          .trim()
          .replace(new RegExp(`^${CURRENCY.source}`, 'i'), '')
          .trim();
  if (sign === undefined) return (alone && CURRENCY.exec(unit)?.[0]) || unit;
  return alone || rest === '' ? sign : `${sign} ${rest}`;
}
const isMoneyAlone = (unit: string) =>
  new RegExp(`^(?:[$€£¥₹¢]|[$€£¥₹¢]? ?${CURRENCY.source})$`, 'i').test(unit);

/**
 * How a value in the unit `from` becomes one in `to`, for each of their meanings; none where they measure different things. null where either is not
 * stated, or not known.
 */
export function conversions(from: string | undefined, to: string | undefined): readonly Conversion[] | null {
  if (!from || !to) return null;
  if ([from, to].some((unit) => isMoneySign(unit.charAt(0)))) {
    // What an amount is paid for says nothing to one that is not said to be for anything.
    const alone = [from, to].some(isMoneyAlone);
    return conversions(moneyIn(from, alone), moneyIn(to, alone));
  }
  if (from === to) return [{ factor: new Fraction(1), pi: 0 }];
  const [ours, theirs] = [readingsOf(from), readingsOf(to)];
  if (ours.length === 0 || theirs.length === 0) return null;
  const dimensions = theirs.map(dimension);
  return ours.flatMap((a) =>
    theirs
      .filter((_, i) => dimension(a) === dimensions[i])
      .map((b) => ({ factor: a.factor.div(b.factor), pi: (a.powers.π ?? 0) - (b.powers.π ?? 0) })),
  );
}

/** Is one of them the unit itself? */
export const isSameUnit = (found: readonly Conversion[]): boolean =>
  found.some(({ factor, pi }) => pi === 0 && factor.equals(1));
