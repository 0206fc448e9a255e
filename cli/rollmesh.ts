#!/usr/bin/env node
/** The program `rollmesh`: one command a subject, each loaded only when it is called. The npm scripts of the repository are calls of it. */
import nodeModule from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Command } from 'commander';
import { CACHES, installed, release } from '../local/mesh/installation.ts';
import { fail } from './shared/fail.ts';
import { subcommandFirst } from './shared/subcommand-first.ts';

interface Entry {
  readonly description: string;
  /** Put before the arguments, where the command is a short name of another's subcommand. */
  readonly before?: readonly string[];
  readonly load: () => Promise<{
    readonly command: () => Command;
    /** What the command makes of its arguments before they are parsed. */
    readonly prepare?: (args: readonly string[]) => Promise<string[]>;
  }>;
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  init: { description: 'writes a project with a recipe of your own', load: () => import('./init.ts') },
  start: {
    description: 'runs the local mesh, the learner and a recipe',
    load: () => import('./start/command.ts'),
  },
  sweep: {
    description: 'plays runs that differ in a few settings, and compares them',
    load: () => import('./sweep/command.ts'),
  },
  recipe: {
    description: 'lists the recipes, or explains one in words',
    load: () => import('./recipe/command.ts'),
  },
  policy: {
    description: 'imports, exports, lists, evaluates, scores and rolls back policies',
    load: () => import('./policy/command.ts'),
  },
  eval: {
    description: 'asks a policy the questions of a file and checks its answers: `policy eval`',
    before: ['eval'],
    load: () => import('./policy/command.ts'),
  },
  'check-answers': {
    description: 'tries a checker on the answers of a file',
    load: () => import('./check-answers.ts'),
  },
  chat: { description: 'chats with a version of a policy', load: () => import('./chat/command.ts') },
  trigger: {
    description: 'orders rounds of a mesh by a signed webhook',
    load: () => import('./trigger/command.ts'),
  },
  curves: {
    description: 'writes a run’s curves for TensorBoard, or as CSV or JSON lines',
    load: () => import('./curves/command.ts'),
  },
  compare: {
    description: 'compares two runs at equal tokens and at equal FLOP, and the bytes of their weights',
    load: () => import('./compare/command.ts'),
  },
  trajectories: {
    description: 'exports prompts and completions as JSONL or Parquet',
    load: () => import('./trajectories/command.ts'),
  },
  mcp: {
    description: 'serves a mesh to an agent as tools, by the Model Context Protocol',
    load: () => import('./mcp/command.ts'),
  },
  doctor: {
    description: 'checks Node, GPU and memory, and says which devices rollmesh will use',
    load: () => import('./doctor/command.ts'),
  },
  runs: { description: 'lists, names, tags, hides and deletes runs', load: () => import('./runs.ts') },
  agents: {
    description: 'prints where agents open the episodes of a run, and their token',
    load: () => import('./agents/command.ts'),
  },
  environment: {
    description: 'trains on an environment that somebody else hosts, by the Open Reward Standard',
    load: () => import('./environment/command.ts'),
  },
  python: {
    description: 'runs programs in Python on their tests, as a reward service',
    load: () => import('./python/command.ts'),
  },
  stop: { description: 'stops a run, whoever ordered it', load: () => import('./stop.ts') },
  audit: {
    description: 'draws the rollouts of a round again and compares them bit by bit',
    load: () => import('./audit/command.ts'),
  },
  verify: {
    description: 'trains a version again from its sealed records and compares the bytes',
    load: () => import('./verify/command.ts'),
  },
  learner: {
    description: 'runs the learner alone, for a mesh elsewhere',
    load: () => import('./learner/command.ts'),
  },
  tinker: {
    description: 'answers Tinker’s training API with this machine’s learner',
    load: () => import('./tinker/command.ts'),
  },
  node: {
    description: 'samples for a mesh on this machine',
    load: () => import('./node/command.ts'),
  },
  'node-token': {
    description: 'makes, lists and revokes the tokens of nodes',
    load: () => import('./node-token/command.ts'),
  },
  serve: {
    description: 'runs the mesh and its learner as a service of a server',
    load: () => import('./serve/command.ts'),
  },
  backup: {
    description: 'writes the state of a mesh to a file, also while it runs',
    load: () => import('./backup/command.ts'),
  },
  restore: {
    description: 'makes the state folder of a mesh from such a file',
    load: () => import('./restore/command.ts'),
  },
  deploy: { description: 'deploys the mesh to Cloudflare', load: () => import('./deploy/command.ts') },
  conformance: {
    description: 'checks what the mesh assumes of its platform',
    load: () => import('./conformance/command.ts'),
  },
  pretrain: {
    description: 'trains a start policy from random weights',
    load: () => import('./pretrain/command.ts'),
  },
  'dead-letters': {
    description: 'lists messages that failed for good, and sends them again',
    load: () => import('./dead-letters/command.ts'),
  },
};

/** Loads only the command that is named; commander parses the rest of the line. */
async function run(args: readonly string[]): Promise<void> {
  // Runs before any command is loaded, so that a user with an old Node gets a clear message.
  await import(pathToFileURL(installed('cli/install', 'require-node.mjs')).href);
  const entry = args[0] === undefined ? undefined : COMMANDS[args[0]];
  if (entry) {
    const { command, prepare } = await entry.load();
    const own = args.slice(1);
    const asked = command().hook(
      'preAction',
      async () => void (await import('./shared/fetch-dispatcher.ts')),
    );
    const ready = [...(entry.before ?? []), ...((await prepare?.(own)) ?? own)];
    await asked.parseAsync(subcommandFirst(ready, asked), { from: 'user' });
    return;
  }
  const program = new Command('rollmesh')
    .description(
      'A serverless rollout mesh for self-play and generator-verifier co-training of language models.',
    )
    .version(release())
    .addHelpText('after', '\nEach command explains itself: rollmesh COMMAND --help');
  for (const [name, { description }] of Object.entries(COMMANDS))
    program.command(name).description(description).helpOption(false);
  if (args.length) await program.parseAsync(args, { from: 'user' });
  else program.outputHelp();
}

// Node keeps what it compiles of the commands' modules, which halves the time of `--help`. Where it cannot write nothing is kept, and a
// Node that is too old for it is told so by `run`.
nodeModule.enableCompileCache?.(join(CACHES, 'rollmesh-compiled'));
const args = process.argv.slice(2);
try {
  await run(args);
  // The command is done; handles that it left open could keep the process from ending.
  process.exit();
} catch (error) {
  fail(error, args.includes('--json'));
}
