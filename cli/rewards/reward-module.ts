/**
 * Bundles a reward module of the user's into one text without imports, with its steps counted. The text is part of the run: its hash is in
 * the recipe's name, and the Workers, the learner and an audit all load this text and never the user's file, which may change meanwhile.
 */

import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Literal, parse } from 'acorn';
import { full } from 'acorn-walk';
import type { BuildFailure } from 'esbuild';
import { wrongInput } from '../../core/errors.ts';
import { deriveId } from '../../core/random.ts';
import { type BoundedModule, REWARD_STEPS, type RewardTask } from '../../core/recipe/reward-function.ts';
import { isPayment } from '../../core/schema/numbers.ts';
import { build } from '../../local/mesh/esbuild.ts';
import { hardTexts, SHORT, within } from '../shared/pattern-probe.ts';
import { countSteps, STEP } from './step-counting.ts';

export interface BundledReward {
  /** Of the text. */
  readonly hash: string;
  /** A JavaScript module whose default export is a BoundedModule. */
  readonly text: string;
}

/** What a pure function has no use for: clocks, chance, the network, the machine, and ways around this list. */
const IMPURE = [
  ...['Date', 'performance', 'Math.random', 'crypto', 'fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource'],
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'process', 'navigator', 'caches'],
  ...['globalThis', 'self', 'window', 'global', 'require', 'Function', 'WebAssembly', 'Worker', 'Atomics'],
];
const MARK = '__rollmesh_impure_';
const marked = (name: string) => `${MARK}${name.replace('.', '_')}`;

/** The limit for all texts that a regular expression is tried on; one that ends takes some milliseconds. */
const PATTERN_MS = 2_000;

/** Steps that the module may take while it is loaded. */
const LOAD_STEPS = 10 * REWARD_STEPS;

/** Throws `wrong-input` where the module is not there, cannot be bundled, is not pure, or has an expression that backtracks for ever. */
export async function bundleReward(path: string): Promise<BundledReward> {
  const file = resolve(path);
  if (!existsSync(file))
    throw wrongInput('reward.path', `There is no reward module ${path}.`, {
      expected: 'the path of a TypeScript or JavaScript module, relative to the working directory',
    });
  const { outputFiles } = await build({
    stdin: {
      contents: `import * as module from ${JSON.stringify(file)}; export default module.default ?? module.reward;`,
      resolveDir: dirname(file),
    },
    absWorkingDir: dirname(file),
    bundle: true,
    write: false,
    platform: 'neutral',
    mainFields: ['module', 'main'],
    format: 'iife',
    globalName: 'bundled',
    target: 'es2024',
    minifyWhitespace: true,
    legalComments: 'none',
    charset: 'utf8',
    logLevel: 'silent',
    define: Object.fromEntries(IMPURE.map((name) => [name, marked(name)])),
  }).catch((cause: BuildFailure) => {
    const [first] = cause.errors;
    const place = first?.location ? ` (${first.location.file}:${first.location.line})` : '';
    throw wrongInput(
      'reward.module',
      `The reward module ${path} cannot be bundled: ${first?.text ?? cause.message}${place}.`,
      { expected: 'a module that imports only files and packages that run without Node', cause },
    );
  });
  const script = outputFiles[0]!.text;
  refuseImpure(path, script);
  refuseEndlessPatterns(path, script);
  const text = [
    '/** Bundled by rollmesh from a reward module: do not edit. */',
    `let left = ${LOAD_STEPS}, over = false;`,
    // One error for all: a module that catches it and goes on would make one with a stack at every step.
    "const outOfSteps = new Error('The reward module is out of steps.');",
    `const ${STEP} = () => { if (--left < 0) { over = true; throw outOfSteps; } };`,
    countSteps(script).trim(),
    'export default { reward: bundled.default, allow: (steps) => { left = steps; over = false; }, exhausted: () => over };',
    '',
  ].join('\n');
  return { hash: deriveId('reward module', text), text };
}

/** `typeof fetch` is let through, as libraries ask so whether there is one: here there is none. */
function refuseImpure(path: string, script: string): void {
  const used = IMPURE.filter((name) => new RegExp(`(?<!typeof )\\b${marked(name)}\\b`).test(script));
  if (used.length)
    throw wrongInput('reward.impure', `The reward module ${path} uses ${used.join(', ')}.`, {
      expected: 'a pure function of the rollout and the task, which gives the same number wherever it runs',
      next: 'For a reward that needs the network, name an HTTP service: --reward https://….',
    });
}

/**
 * Throws `reward.pattern` for a regular expression of the script that backtracks for ever: one match is a single step, which nothing ends. Each is
 * tried on some thousand texts of 60 characters, which take an expression of that kind years, and any other no time.
 */
function refuseEndlessPatterns(path: string, script: string): void {
  const patterns: RegExp[] = [];
  full(parse(script, { ecmaVersion: 'latest', sourceType: 'script' }), (node) => {
    const { regex } = node as Literal;
    if (node.type === 'Literal' && regex)
      patterns.push(new RegExp(regex.pattern, regex.flags.replace(/[gy]/g, '')));
  });
  const endless = patterns.find((pattern) => {
    const texts = hardTexts(pattern.source).filter((text) => text.length <= 2 * SHORT);
    return within(PATTERN_MS, () => texts.forEach((text) => void pattern.test(text))) !== 'done';
  });
  if (!endless) return;
  throw wrongInput(
    'reward.pattern',
    `The regular expression ${endless} of the reward module ${path} backtracks for ever.`,
    {
      expected:
        'an expression in which no repetition holds another one that can match the same text, as in (a+)+',
      next: 'Write it otherwise; nothing was trained.',
    },
  );
}

/** Loads a bundled module in this process. Throws `wrong-input` where it fails, does not end, or exports no function. */
export async function loadReward(path: string, { text }: BundledReward): Promise<BoundedModule> {
  let loaded: { readonly default: BoundedModule };
  try {
    loaded = (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as typeof loaded;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw wrongInput('reward.load', `The reward module ${path} fails when it is loaded: ${why}`, { cause });
  }
  if (typeof loaded.default.reward === 'function') return loaded.default;
  throw wrongInput('reward.export', `The reward module ${path} exports no reward.`, {
    expected: 'export default (rollout, task) => NUMBER or null, or a function that is exported as `reward`',
  });
}

/** Tasks that a module is tried on before anything is trained. */
const TRIED = 5;

/** Throws `reward.fails` where the module rates none of the first tasks, given their own reference answers, and gives no null either. */
export function tryReward(path: string, module: BoundedModule, tasks: readonly RewardTask[]): void {
  const faults = tasks.slice(0, TRIED).map((task) => {
    module.allow(REWARD_STEPS);
    try {
      const { answer } = task;
      const value: unknown = module.reward(
        { text: answer, answer, ended: true, tokens: 1 },
        structuredClone(task),
      );
      if (value === null || isPayment(value)) return null;
      return `gives ${value instanceof Promise ? 'a promise' : String(value)}`;
    } catch (error) {
      if (module.exhausted()) return `does not end within ${REWARD_STEPS} steps`;
      return `throws “${error instanceof Error ? error.message : String(error)}”`;
    }
  });
  if (faults.length === 0 || faults.includes(null)) return;
  throw wrongInput(
    'reward.fails',
    `The reward module ${path} rates none of the first ${faults.length} tasks, though their own reference answers were given: it ${faults[0]}.`,
    {
      expected: 'a finite number, or null where a rollout cannot be rated',
      next: 'Correct the module; nothing was trained.',
    },
  );
}
