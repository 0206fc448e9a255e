/** The options of a command that trains on files of tasks or in a world, and what does not go together. */
import { type Command, InvalidArgumentError } from 'commander';
import * as v from 'valibot';
import { EXTRACTIONS, type Extraction, parseExtractions } from '../core/checkers/extract.ts';
import { wrongInput } from '../core/errors.ts';
import { type Seat, seats } from '../core/schema/agent.ts';
import { TOOL_NAMES, type ToolName } from '../protocols/questions/tools.ts';
import { addTaskFileOptions, type TaskFileOptions } from './policy/task-file-options.ts';
import { parseRewards } from './rewards/reward-option.ts';

export interface TaskRecipeOptions extends TaskFileOptions {
  /** Paths, each with its weight where it has one: `FILE` or `FILE@3`. */
  readonly tasks: readonly string[];
  /** A share from 0 to 1, or the path of a file. */
  readonly heldOut: string;
  /** The field whose equal values go to the same side of the split. */
  readonly splitBy?: string;
  readonly extract: readonly Extraction[];
  /** Assignments `path=value`. */
  readonly set: readonly string[];
  /** Settings that `--adapter` names. */
  readonly adapter?: readonly string[];
  /** Settings that `--publish` names. */
  readonly publish?: readonly string[];
  /** The name of one reward, or a weighted sum of several. */
  readonly reward?: string;
  /** Path of a file of prompts, by verb. */
  readonly prompts?: string;
  /** Agents hold the episodes, and post the rewards. */
  readonly agent?: boolean;
  /** The environment in which a Worker of the mesh holds them, in place of an agent of one's own. */
  readonly environment?: string;
  readonly environmentTurns?: number;
  readonly answerTool?: string;
  /** The seats of their episodes, where they are not the solver's alone. */
  readonly seats?: readonly Seat[];
  /** Tools that the policy may use before it answers. */
  readonly tools?: readonly ToolName[];
  readonly start: string;
}

/** The options of a command that trains on files. */
export interface TrainingTaskOptions extends Omit<TaskRecipeOptions, 'tasks' | 'start'> {
  readonly recipe: string;
  readonly policy?: string;
  /** Path of a world of the user's. */
  readonly world?: string;
  /** Files. */
  readonly tasks?: readonly string[];
  readonly inProcess?: boolean;
}

/** `--adapter rank=16,alpha=32` as settings of the recipe, which check the numbers. */
function adapterOption(text: string): readonly string[] {
  const parts = text.split(',');
  if (
    !parts.every((part) => /^(?:rank|alpha)=[^=]+$/.test(part)) ||
    !parts.some((part) => part.startsWith('rank='))
  )
    throw new InvalidArgumentError('Expected rank=R or rank=R,alpha=A, as in rank=16,alpha=32.');
  return parts.map((part) => `adapter.${part}`);
}

/** `--publish bf16` as a setting of the recipe. */
function publishOption(text: string): readonly string[] {
  if (text !== 'bf16')
    throw new InvalidArgumentError('Expected bf16; without the option versions have float32 weights.');
  return ['optimizer.publish=bf16'];
}

/** `--seats white,black=words@0,judge=own`: each by its name, one that is not trained with the version that plays it, and which have weights of their own. */
function seatsOption(text: string): readonly Seat[] {
  const listed = text.split(',').map((seat) => {
    const [, called, own, named, version] = /^([^=]*)(?:=(?:(own)|(.+)@(\d+)))?$/.exec(seat) ?? ['', seat];
    return {
      name: called,
      ...(own === undefined ? {} : { own: true }),
      ...(named === undefined ? {} : { policy: { name: named, version: Number(version) } }),
    };
  });
  const { success, output, issues } = v.safeParse(seats, listed);
  if (success) return output;
  throw new InvalidArgumentError(
    `${issues[0].message}. As in proposer,solver; NAME=own for a seat with weights of its own, NAME=POLICY@VERSION for one that is not trained.`,
  );
}

/** `--tools run_javascript`, with commas between several. */
function toolsOption(text: string): readonly ToolName[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  const known = (name: string): name is ToolName => (TOOL_NAMES as readonly string[]).includes(name);
  if (names.every(known)) return names;
  throw new InvalidArgumentError(`Expected some of ${TOOL_NAMES.join(', ')}.`);
}

const several = (value: string, before: readonly string[]): string[] => [...before, value];

export const addTrainingTaskOptions = (command: Command): Command =>
  addTaskFileOptions(command)
    .option(
      '--held-out <share or file>',
      'share of the tasks that is held out, or a file of held-out tasks',
      '0.1',
    )
    .option('--split-by <field>', 'field of the metadata whose equal values go to the same side of the split')
    .option(
      '--extract <where>',
      `where the answer stands in the text, tried in order (${EXTRACTIONS.join(', ')})`,
      parseExtractions,
      parseExtractions('boxed,answer,whole'),
    )
    .option(
      '--world <module or name>',
      'play the recipe in a world of your own, a module as `rollmesh init --world` writes one, or in canvas, a world of pictures (docs/worlds.md)',
    )
    .option(
      '--prompts <file>',
      'JSON with what the recipe says to the policy, by verb (recipe show NAME --prompts writes one to begin with)',
    )
    .option(
      '--reward-model <name@version>',
      'a version with a class head (recipe reward-model) that pays the answers, alone or beside --reward; NAME@N=0.5 has the weight 0.5 (repeat)',
      several,
      [],
    )
    .option(
      '--set <path=value>',
      'a setting of the recipe, such as optimizer.learningRate=3e-5 or objective.kind=gspo (repeat)',
      several,
      [],
    )
    .option(
      '--adapter <rank=R,alpha=A>',
      'train a low-rank adapter (LoRA) in place of all weights; short for --set adapter.rank=R --set adapter.alpha=A',
      adapterOption,
    )
    .option(
      '--publish <bf16>',
      'train in float32 and publish in bf16: all weights, by deltas where few of them change, or the adapter; short for --set optimizer.publish=bf16',
      publishOption,
    )
    .option(
      '--agent',
      'programs of your own hold the episodes by way of an OpenAI endpoint and post the rewards (docs/agents.md)',
    )
    .option(
      '--seats <names>',
      'with --agent: the seats of an episode, as in proposer,solver; each has a history and rewards of its own. NAME=own has weights of its own, too; NAME=POLICY@VERSION is played by that version and not trained',
      seatsOption,
    )
    .option(
      '--tools <names>',
      `the policy may use these tools before it answers, which the mesh carries out: ${TOOL_NAMES.join(', ')} (docs/tasks.md)`,
      toolsOption,
    );

/** Throws where nobody would run the programs of a run: the mesh has no Python, and asks a service. */
export function expectPaidPython({ checker, reward, agent }: TrainingTaskOptions): void {
  if (checker !== 'python' || agent || (reward !== undefined && /https?:/.test(reward))) return;
  throw wrongInput(
    'run.python',
    'Programs in Python do not run in Workers, and no service is named that runs them.',
    {
      expected: '--checker python with --reward URL',
      next: 'Start `npx rollmesh python` in another terminal, and add --reward http://127.0.0.1:8790.',
    },
  );
}

/** Throws where a policy cannot use tools in such a run. */
export function expectToolOptions({ tools, agent, reward, checker }: TrainingTaskOptions): void {
  if (!tools) return;
  const refuse = (what: string, expected: string) => wrongInput('run.tools', what, { expected });
  if (agent)
    throw refuse('Agents have tools of their own, and --tools is given.', 'one of --agent and --tools');
  if (checker === 'python')
    throw refuse(
      'A service pays programs in Python, and the checker pays the answers of a run with tools.',
      'another --checker, or no --tools',
    );
  if (reward !== undefined && reward !== 'checker')
    throw refuse(
      `The checker pays the answers of a run with tools, and --reward ${reward} is given.`,
      'no --reward',
    );
}

/** Throws where agents cannot hold the episodes of such a run. */
export function expectAgentOptions({
  agent,
  environment,
  seats,
  recipe,
  reward,
  inProcess,
}: TrainingTaskOptions): void {
  const refuse = (what: string, expected: string) => wrongInput('run.agent', what, { expected });
  if (seats && !agent)
    throw refuse('Seats are held by agents, and --agent is not given.', '--seats with --agent');
  if (!agent) return;
  if (seats && environment !== undefined)
    throw refuse(
      'In an environment one policy acts, and --seats is given.',
      '--environment without --seats, or --seats with an agent of your own',
    );
  if (recipe !== 'grpo' && seats)
    throw refuse(`Recipe ${recipe} trains one seat, and --seats is given.`, '--recipe grpo with --seats');
  if (reward !== undefined)
    throw refuse(
      `Agents post the reward of an episode, and --reward ${reward} is given.`,
      'one of --agent and --reward',
    );
  if (inProcess)
    throw refuse('Agents reach a run through its mesh, and --in-process has none.', 'no --in-process');
}

/** Throws where a world is named together with what belongs to files or agents; null otherwise. */
export function expectWorldAlone({ tasks = [], prompts, reward, agent, tools }: TrainingTaskOptions): null {
  const others = {
    '--tasks': tasks.length > 0,
    '--prompts': prompts !== undefined,
    '--agent': agent === true,
    '--tools': tools !== undefined,
    '--reward': reward !== undefined && parseRewards(reward) !== null,
  };
  const other = Object.entries(others).find(([, given]) => given);
  if (!other) return null;
  throw wrongInput('run.world', `A world has its own tasks, prompts and rewards, and ${other[0]} is given.`, {
    expected: `one of --world and ${other[0]}`,
  });
}
