/**
 * Writes the register tiles of the kernels: the inner loops of a product C (+)= A B, as AssemblyScript that `compile.ts` compiles with `assembly/`. A tile holds `rows` rows by
 * `vectors` vectors of four columns of C in registers while it goes along k. A is in panels [k][rows] and B in panels [k][columns]; `ldc` is the length of C's rows
 * in bytes.
 *
 * Two neighbouring vectors of a row can run as one of 256 bits (`node-revectorizer.ts`), but V8 takes only this form: both are loaded and stored one after the other, at
 * immediate offsets of one address; one branch in place of a choice for each value; and no call that takes vectors, so what ends a tile is in functions that are small enough to
 * be inlined (`assembly/infer/operands.ts`).
 */
interface Tile {
  readonly name: string;
  readonly doc: string;
  readonly rows: number;
  readonly vectors: number;
  /**
   * What C is made of. `chosen` and `float`: of float32, where the values that are added to are chosen one by one, or loaded in one branch. `any`: of the operands of type T that
   * `operands.ts` describes. `integer`: of those that are integers, whose sums are exact in any order.
   */
  readonly sums: 'chosen' | 'float' | 'any' | 'integer';
  /** Vectors of a row that lie in one panel of B; the next panel is `panel` bytes further. Default: all. */
  readonly together?: number;
  /** Neighbouring steps that are summed apart. Default 1. */
  readonly deep?: number;
  /** A lies where it was, not in a panel: its rows begin at a and at `row1` … bytes after it, and `step` bytes lie between two values of a row. */
  readonly loose?: true;
}

const to = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
/** The arguments of a load or a store at an offset of an address. */
const at = (address: string, bytes: number): string => (bytes ? `${address}, ${bytes}` : address);
const plus = (value: string, more: number): string => (more ? `${value} + ${more}` : value);
/** The address of row r of what begins at `first`. */
const rowOf = (first: string, r: number): string => (r ? `${first}${r}` : first);

function written(tile: Tile): string {
  const { name, doc, rows, vectors, sums, together = vectors, deep = 1, loose } = tile;
  const generic = sums === 'any' || sums === 'integer';
  const typed = generic ? '<T>' : '';
  const panels = vectors / together;
  const each = to(rows).flatMap((r) => to(vectors).map((v) => [r, v] as const));
  const sum = (r: number, v: number, d = 0): string => `${'xyzw'[d]}${r}${v}`;
  const lines = (of: (r: number, v: number) => string): string[] => each.map(([r, v]) => of(r, v));
  const load = (r: number, v: number): string => `v128.load(${at(rowOf('c', r), 16 * v)})`;
  const parameters = [
    ...['steps: i32', 'a: usize'],
    ...(loose ? [...to(rows - 1).map((r) => `row${r + 1}: usize`), 'step: usize'] : []),
    'b: usize',
    ...(panels > 1 ? ['panel: usize'] : []),
    'c: usize',
    ...(rows > 1 ? ['ldc: usize'] : []),
    ...(generic ? ['row: usize', 'column: usize'] : []),
    'add: bool',
  ];
  const zero = 'const zero = f32x4.splat(0);';
  const begun = {
    chosen: () => [zero, ...lines((r, v) => `let ${sum(r, v)} = add ? ${load(r, v)} : zero;`)],
    float: () => [
      zero,
      ...lines((r, v) => `let ${sum(r, v)} = zero;`),
      `if (add) { ${lines((r, v) => `${sum(r, v)} = ${load(r, v)};`).join(' ')} }`,
    ],
    any: () => [
      'const first = corrections + column;',
      ...lines((r, v) => {
        const first = `isFloat<T>() ? f32x4.splat(0) : v128.load(${at('first', 16 * v)})`;
        return `let ${sum(r, v)} = ${r === 0 ? first : r % 2 ? `odd<T>(${sum(0, v)})` : sum(0, v)};`;
      }),
      `if (isFloat<T>() && add) { ${lines((r, v) => `${sum(r, v)} = ${load(r, v)};`).join(' ')} }`,
    ],
    integer: () => [
      'const none = i32x4.splat(0);',
      'const first = corrections + column;',
      ...lines(
        (r, v) =>
          `let ${sum(r, v)} = ${r === 0 ? `v128.load(${at('first', 16 * v)})` : `odd<T>(${sum(0, v)})`};`,
      ),
      ...to(deep - 1).flatMap((d) => lines((r, v) => `let ${sum(r, v, d + 1)} = none;`)),
    ],
  }[sums]();
  // One row of A needs each vector of B once, and none is kept in a register.
  const right = (d: number, v: number): string =>
    `v128.load(${at(rowOf('b', Math.floor(v / together)), 16 * (d * together + (v % together)))})`;
  const step = generic ? 'step<T>' : 'madd';
  const body = to(deep).flatMap((d) => [
    ...(rows > 1 ? to(vectors).map((v) => `const right${d}${v} = ${right(d, v)};`) : []),
    ...to(rows).flatMap((r) => [
      `const left${d}${r} = v128.load_splat<f32>(${loose ? rowOf('a', r) : at('a', 4 * (d * rows + r))});`,
      ...to(vectors).map(
        (v) =>
          `${sum(r, v, d)} = ${step}(left${d}${r}, ${rows > 1 ? `right${d}${v}` : right(d, v)}, ${sum(r, v, d)});`,
      ),
    ]),
  ]);
  const bytesOfB = 16 * together * deep;
  const end = loose ? `b + bytes(steps) * ${bytesOfB / 4}` : `a + bytes(steps) * ${rows}`;
  const onward = [
    ...(loose ? [] : [`a += ${4 * rows * deep}`]),
    ...to(panels).map((p) => `${rowOf('b', p)} += ${bytesOfB}`),
    ...(loose ? to(rows).map((r) => `${rowOf('a', r)} += step`) : []),
  ];
  const joined = (r: number, v: number): string =>
    deep === 2
      ? `i32x4.add(${sum(r, v)}, ${sum(r, v, 1)})`
      : `i32x4.add(i32x4.add(${sum(r, v)}, ${sum(r, v, 1)}), i32x4.add(${sum(r, v, 2)}, ${sum(r, v, 3)}))`;
  const pairs = to(vectors / 2);
  const ended = (call: string, r: number, row: number, pair: number, last: string): string =>
    `${call}(${plus(rowOf('c', r), 32 * pair)}, ${plus('row', 4 * row)}, ${plus('column', 32 * pair)}, ${last}, add);`;
  const endRows = to(rows).flatMap((r) =>
    pairs.map((p) => ended('endRow<T>', r, r, p, `${sum(r, 2 * p)}, ${sum(r, 2 * p + 1)}`)),
  );
  const endPlanes = to(rows / 2).flatMap((r) =>
    pairs.map((p) => {
      const high = `${sum(2 * r, 2 * p)}, ${sum(2 * r, 2 * p + 1)}`;
      const low = `${sum(2 * r + 1, 2 * p)}, ${sum(2 * r + 1, 2 * p + 1)}`;
      return ended('endPlanes', r, r, p, `${high}, ${low}`);
    }),
  );
  const stored = !generic
    ? lines((r, v) => `v128.store(${rowOf('c', r)}, ${sum(r, v)}${v ? `, ${16 * v}` : ''});`)
    : rows > 1
      ? ['if (planes<T>() == 2) {', ...endPlanes, '} else {', ...endRows, '}']
      : endRows;
  return [
    `/** ${doc} */`,
    `export function ${name}${typed}(${parameters.join(', ')}): void {`,
    ...to(rows - 1).map((r) => `const c${r + 1} = ${rowOf('c', r)} + ldc;`),
    ...begun,
    ...(loose ? to(rows - 1).map((r) => `let a${r + 1} = a + row${r + 1};`) : []),
    ...to(panels - 1).map((p) => `let b${p + 1} = ${rowOf('b', p)} + panel;`),
    `for (const end = ${end}; ${loose ? 'b' : 'a'} < end; ${onward.join(', ')}) {`,
    ...body,
    '}',
    ...(deep > 1 ? lines((r, v) => `${sum(r, v)} = ${joined(r, v)};`) : []),
    ...stored,
    '}',
  ].join('\n');
}

/** In float32, for A and B in panels as wide as the tile. */
const SHARED: readonly Tile[] = [
  { name: 'tile4x8', doc: 'The fastest without fused multiply-add.', rows: 4, vectors: 2, sums: 'chosen' },
  {
    name: 'tile6x8',
    doc: 'The fastest with fused multiply-add: 15 of 16 registers.',
    rows: 6,
    vectors: 2,
    sums: 'chosen',
  },
  {
    name: 'tile4x16',
    doc: 'For engines that pair 128-bit operations into 256-bit ones.',
    rows: 4,
    vectors: 4,
    sums: 'float',
  },
  {
    name: 'looseTile4x16',
    doc: 'For an A that is in no panel: packing A costs as much as a product by only 16 columns.',
    rows: 4,
    vectors: 4,
    sums: 'float',
    loose: true,
  },
];

const any = (name: string, rows: number, vectors: number, doc: string): Tile => ({
  ...{ name, rows, vectors, doc },
  sums: 'any',
  together: 2,
});
/**
 * For B in panels of 8 columns. Tiles for few rows keep eight chains or more under way at once, which hides the latency of a multiply-add: in float32 they are wider; in
 * integers they sum neighbouring steps apart, and read B from one place after the other, which is faster where B comes from memory.
 */
const INFER: readonly Tile[] = [
  any('tile6', 6, 2, 'Takes 15 of 16 vector registers.'),
  {
    name: 'tile4x16',
    doc: 'In float32: the fastest where pairs of 128-bit operations run as one, since its eight pairs are as many chains.',
    rows: 4,
    vectors: 4,
    sums: 'float',
    together: 2,
  },
  any('tile4', 4, 2, 'Four rows.'),
  any('tile2x16', 2, 4, 'Two rows by two panels of B.'),
  any('tile2', 2, 2, 'For columns that `tile2x16` leaves over.'),
  any('tile1x32', 1, 8, 'One row of A, which is no plane, by four panels of B.'),
  any('tile1', 1, 2, 'For columns that `tile1x32` leaves over.'),
  {
    name: 'tile2Deep',
    doc: 'In integers; `steps` is a multiple of 4.',
    rows: 2,
    vectors: 2,
    sums: 'integer',
    deep: 2,
  },
  {
    name: 'tile1Deep',
    doc: 'In integers, for a row of A that is no plane; `steps` is a multiple of 4.',
    rows: 1,
    vectors: 2,
    sums: 'integer',
    deep: 4,
  },
];

const IN_USE = `/** C[MR, NR] (+)= A panel * B panel, by the shape in use. */
export function tile(steps: i32, a: usize, b: usize, c: usize, ldc: usize, add: bool): void {
  if (NR == 16) tile4x16(steps, a, b, c, ldc, add);
  else if (ASC_FEATURE_RELAXED_SIMD) tile6x8(steps, a, b, c, ldc, add);
  else tile4x8(steps, a, b, c, ldc, add);
}`;

/** The modules of tiles by their paths, in AssemblyScript. */
export const TILES: Readonly<Record<string, string>> = {
  'kernels/assembly/shared/tiles.ts': [
    "import { NR } from './scratch';",
    "import { bytes, madd } from './vector';",
    ...SHARED.map(written),
    IN_USE,
  ].join('\n'),
  'kernels/assembly/infer/tiles.ts': [
    "import { bytes, madd } from '../shared/vector';",
    "import { corrections, endPlanes, endRow, odd, planes, step } from './operands';",
    ...INFER.map(written),
  ].join('\n'),
};
