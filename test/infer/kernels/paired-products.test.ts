/** Products in which pairs of operations run as one are tried before they are used, and are faster where the engine has them. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BUILDS } from '../../../infer/kernels/builds.ts';
import { instantiate, type KernelInstance, type Kernels } from '../../../infer/kernels/kernels.ts';
import { buildFile, loadBuilds, unpaired } from '../../../infer/kernels/node-builds.ts';
import { areProductsRight, wideTilesPay } from '../../../infer/kernels/paired-products.ts';
import { compilePaired } from '../../../kernels/node-revectorizer.ts';

const compile = (build: (typeof BUILDS)[number]) => instantiate(unpaired(build));

test.each(BUILDS)('the products of %s are right as they are compiled by default', (build) => {
  if (loadBuilds()[build]) expect(areProductsRight(compile(build), true)).toBe(true);
});

/** An instance one of whose products exchanges two neighbouring values of C, `c` being the position of its address among the arguments. */
function exchanging(product: 'linear' | 'linearInt8', c: number): KernelInstance {
  const instance = compile('plain');
  const broken: Kernels[typeof product] = (...args) => {
    instance.kernels[product](...args);
    const floats = instance.heap.floats(args[c]!, 8);
    [floats[3], floats[4]] = [floats[4]!, floats[3]!];
    return 0;
  };
  return { ...instance, kernels: { ...instance.kernels, [product]: broken } };
}

test('a product with two lanes exchanged is found', () => {
  expect(areProductsRight(exchanging('linear', 7), false)).toBe(false);
  expect(areProductsRight(exchanging('linearInt8', 8), true)).toBe(false);
  expect(areProductsRight(exchanging('linearInt8', 8), false)).toBe(true);
});

test.skipIf(!loadBuilds().fused)(
  'sums that are rounded in another way than the single steps of the build are found',
  () => {
    const { kernels, ...plain } = compile('plain');
    const { probeMadd } = compile('fused').kernels;
    expect(areProductsRight({ ...plain, kernels: { ...kernels, probeMadd } }, false)).toBe(false);
  },
);

const hasPairs =
  process.arch === 'x64' &&
  Number.parseInt(process.versions.v8, 10) >= 13 &&
  existsSync('/proc/cpuinfo') &&
  /\bavx2\b/.test(readFileSync('/proc/cpuinfo', 'utf8'));

test.skipIf(!hasPairs)('pairs run as one where V8 has the pass: wide tiles are the faster ones', () => {
  const pay = () =>
    compilePaired(() => wideTilesPay(instantiate(new WebAssembly.Module(readFileSync(buildFile('fused'))))));
  expect(Array.from({ length: 5 }, pay)).toContain(true);
});
