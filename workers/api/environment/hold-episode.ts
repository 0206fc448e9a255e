/**
 * One episode of a run, held in an environment that somebody else hosts: the policy is asked through the episode's endpoint, what it calls is
 * called in the environment, and what the environment paid is the reward. Whatever goes wrong with the environment is recorded as missing data with its kind.
 */

import { linearSchema } from '../../../core/checkers/json-schema.ts';
import { argumentsCheck, type ToolSchema } from '../../../core/episodes/tool-arguments.ts';
import { wrongInput } from '../../../core/errors.ts';
import type { Score } from '../../../core/net/reward-service.ts';
import type { EnvironmentTool } from '../../../core/schema/environment.ts';
import { isPayment } from '../../../core/schema/numbers.ts';
import { missingBy } from '../environment-http.ts';
import type { Called, Host, World } from './host.ts';

/** A message as OpenAI's endpoint takes and gives it. */
export type ChatMessage = Readonly<Record<string, unknown>>;

/** What the policy answered. */
export interface Said {
  /** The answer's own id. */
  readonly id: string;
  readonly message: ChatMessage;
  readonly content: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
}

/** Asks the policy. @returns null where the conversation has no room for an answer any more */
export type Ask = (messages: readonly ChatMessage[], tools: readonly object[]) => Promise<Said | null>;

export interface HoldOptions {
  /** The most answers of the policy. */
  readonly turns: number;
  /** The tool whose one argument is the whole of each answer: for policies that know no tools. */
  readonly answerTool?: string | undefined;
}

export interface Ended {
  readonly score: Score;
  /** What the calls of single answers were paid, by the answers' ids. */
  readonly turns?: Readonly<Record<string, number>>;
  /** What went wrong with the environment. */
  readonly error?: Error;
}

/** A tool as OpenAI's endpoint takes it. */
const offered = ({ name, description, input_schema }: EnvironmentTool) => ({
  type: 'function',
  function: { name, description, parameters: input_schema ?? { type: 'object', properties: {} } },
});

/** Of a tool's schema the names of its arguments. */
interface ArgumentsSchema {
  readonly properties?: object;
  readonly required?: readonly string[];
}

/** The name of the tool's one argument, or of the one that it needs. Throws `environment.answer-tool`. */
function argumentOf(tools: readonly EnvironmentTool[], wanted: string): string {
  const tool = tools.find(({ name }) => name === wanted);
  const { properties: described = {}, required = [] } = (tool?.input_schema ?? {}) as ArgumentsSchema;
  const properties = Object.keys(described);
  const [only, ...others] = properties.length > 1 ? required : properties;
  if (only !== undefined && others.length === 0) return only;
  throw wrongInput(
    'environment.answer-tool',
    tool
      ? `The tool ${wanted} of the environment takes ${properties.length} arguments.`
      : `The environment has no tool ${wanted}.`,
    {
      expected: `a tool with one argument, or one that it needs, among ${tools.map(({ name }) => name).join(', ')}`,
    },
  );
}

/**
 * What is wrong with a call, for the policy, by the schema of the tool that it names; null where nothing is, and where that is for the environment
 * to say: of a tool it does not know, and by a schema that cannot be followed or whose patterns may take for ever.
 */
function checksOf(tools: readonly EnvironmentTool[]) {
  const checks = new Map<string, (input: object) => string | null>();
  for (const { name, input_schema } of tools)
    try {
      if (input_schema) checks.set(name, argumentsCheck(linearSchema(input_schema) as ToolSchema));
    } catch {
      // The environment alone can read this schema.
    }
  return (name: string, input: object): string | null => {
    const wrong = checks.get(name)?.(input) ?? null;
    return wrong && `The arguments of this call do not fit the tool: ${wrong} Write them again.`;
  };
}

/** The arguments of a call; null where the policy did not write an object. */
function objectOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null;
  } catch {
    return null;
  }
}

/** The sum of what the calls were paid; `finished` without any number is no reward. */
class Purse {
  #paid: number | null = null;
  /** What the calls of each answer were paid, by the answers' ids. */
  readonly turns: Record<string, number> = {};
  finished = false;

  take(answer: string, { text, reward, finished }: Called): string {
    if (reward !== null) {
      this.#paid = (this.#paid ?? 0) + reward;
      this.turns[answer] = (this.turns[answer] ?? 0) + reward;
    }
    this.finished = finished;
    return text;
  }

  get score(): Score {
    if (this.#paid === null) return this.finished ? 'not-rated' : 0;
    return [this.#paid, ...Object.values(this.turns)].every(isPayment) ? this.#paid : 'not-a-number';
  }
}

async function played(world: World, ask: Ask, { turns, answerTool }: HoldOptions): Promise<Ended> {
  const { prompt, tools } = world;
  const argument = answerTool === undefined ? undefined : argumentOf(tools, answerTool);
  const messages: ChatMessage[] = [{ role: 'user', content: prompt }];
  const purse = new Purse();
  const wrongWith = checksOf(tools);
  const call = async (answer: string, name: string, input: Readonly<Record<string, unknown>>) =>
    purse.take(answer, await world.call(name, input));
  for (let turn = 0; turn < turns; turn++) {
    const said = await ask(messages, argument === undefined ? tools.map(offered) : []);
    if (!said) break;
    messages.push(said.message);
    if (argument !== undefined)
      messages.push({
        role: 'user',
        content: await call(said.id, answerTool!, { [argument]: said.content }),
      });
    for (const { id, name, arguments: given } of said.calls) {
      const input = objectOf(given);
      // What finishes the environment is its last call: it is not asked for anything after that.
      if (purse.finished) break;
      const content = input
        ? (wrongWith(name, input) ?? (await call(said.id, name, input)))
        : 'The arguments of this call are no JSON object. Write them again.';
      messages.push({ role: 'tool', tool_call_id: id, content });
    }
    // An answer without a call is the policy's end of the episode.
    if (purse.finished || (argument === undefined && said.calls.length === 0)) break;
  }
  await world.settled();
  const { score } = purse;
  return typeof score === 'number' ? { score, turns: purse.turns } : { score };
}

/**
 * Plays an episode of a task to its end. `session`: a name that follows from the episode and nothing else, so that no episode has two sessions.
 * @returns what the episode is worth: the sum of what its calls were paid, 0 where the policy ended it unpaid, or why there is no reward
 */
export async function holdEpisode(
  host: Pick<Host, 'open'>,
  task: unknown,
  session: string,
  ask: Ask,
  options: HoldOptions,
): Promise<Ended> {
  let world: World | undefined;
  try {
    world = await host.open(task, session);
    return await played(world, ask, options);
  } catch (error) {
    const missing = missingBy(error);
    if (missing === undefined) throw error;
    return { score: missing, error: error as Error };
  } finally {
    await world?.end();
  }
}
