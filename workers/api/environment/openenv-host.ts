/**
 * A server of OpenEnv: a session of the server is the environment of an episode, and a seed is a task. The policy acts by the tools of an
 * environment that speaks the Model Context Protocol, and in any other by one tool, `step`, whose arguments are the action.
 */
import * as v from 'valibot';
import { wrongInput } from '../../../core/errors.ts';
import type { EnvironmentTool } from '../../../core/schema/environment.ts';
import {
  type ActionSchema,
  mcpResult,
  type OpenEnvObservation,
  type OpenEnvPlace,
  openEnvPlace,
  openEnvToolResult,
} from '../../../core/schema/openenv.ts';
import type { OpenEnvClient, OpenEnvSession } from '../openenv-client.ts';
import { type Called, type Host, UNKNOWN_ANSWER, type WantedTasks, type World } from './host.ts';

const taskSchema = v.object({ metadata: openEnvPlace });

function placeOf(task: unknown): OpenEnvPlace {
  const result = v.safeParse(taskSchema, task);
  if (result.success) return result.output.metadata;
  throw wrongInput('environment.task', 'The tasks of this run are not from a server of OpenEnv.', {
    expected: 'tasks whose metadata has the protocol openenv and what a reset is given',
    next: 'Write the file for --tasks with `rollmesh environment tasks URL`.',
  });
}

const propertiesOf = ({ properties }: ActionSchema): Readonly<Record<string, unknown>> =>
  typeof properties === 'object' && properties !== null ? { ...properties } : {};

/** Whether an action is the call of a tool: the server routes calls by their type, and an action without fields of its own takes them, too. */
function callsTools(schema: ActionSchema): boolean {
  const { metadata: _, ...own } = propertiesOf(schema);
  const { type } = own as { type?: { const?: unknown } };
  return type?.const === 'call_tool' || type?.const === 'list_tools' || Object.keys(own).length === 0;
}

/** The one tool of an environment that knows none: a name that the protocol forbids to tools of the environment itself. */
function stepTool(schema: ActionSchema): EnvironmentTool {
  const { metadata: _, ...properties } = propertiesOf(schema);
  return { name: 'step', description: 'Acts in the environment.', input_schema: { ...schema, properties } };
}

/** The fields of an observation that have a value; the text of a field that stands alone. */
function shown(
  observation: Readonly<Record<string, unknown>>,
  fields: readonly string[] | undefined,
): string {
  const told = Object.entries(observation).filter(
    ([name, value]) => value !== null && (fields?.includes(name) ?? true),
  );
  const only = told.length === 1 ? told[0]![1] : undefined;
  if (typeof only === 'string') return only;
  return told.length ? JSON.stringify(Object.fromEntries(told)) : '';
}

/** What the call of a tool gave, as text: of its result what the protocol writes for models. */
function resultText(
  observation: Readonly<Record<string, unknown>>,
  fields: readonly string[] | undefined,
): string {
  const answer = v.safeParse(openEnvToolResult, observation);
  if (!answer.success) return shown(observation, fields);
  const { result, error } = answer.output;
  if (error) return error.message;
  const blocks = v.safeParse(mcpResult, result);
  if (blocks.success) return blocks.output.content.map(({ text, type }) => text ?? `(${type})`).join('\n');
  return typeof result === 'string' ? result : JSON.stringify(result ?? null);
}

const promptOf = (first: OpenEnvObservation, { instructions, show }: OpenEnvPlace): string =>
  [instructions, shown(first.observation, show)].filter(Boolean).join('\n\n');

const calledBy =
  (session: OpenEnvSession, areTools: boolean, { show }: OpenEnvPlace): World['call'] =>
  async (name, input): Promise<Called> => {
    if (!areTools && name !== 'step')
      return { text: `There is no tool ${name}.`, reward: null, finished: false };
    const action = areTools ? { type: 'call_tool', tool_name: name, arguments: input } : input;
    const answer = await session.step(action);
    if ('invalid' in answer)
      return { text: `The environment does not take this: ${answer.invalid}`, reward: null, finished: false };
    const { observation, reward, done } = answer;
    return { text: resultText(observation, show), reward, finished: done };
  };

async function open(client: OpenEnvClient, task: unknown, episode: string): Promise<World> {
  const place = placeOf(task);
  const schema = await client.actionSchema();
  const areTools = callsTools(schema);
  const { session, first } = await client.begin({ ...place.reset, episode_id: episode });
  try {
    return {
      prompt: promptOf(first, place),
      tools: areTools ? await session.tools() : [stepTool(schema)],
      call: calledBy(session, areTools, place),
      settled: () => session.settled(),
      end: async () => session.close(),
    };
  } catch (error) {
    session.close();
    throw error;
  }
}

/** A seed is a task. A prompt that several seeds have names its seed, since a file has every question once. */
async function rowsOf(
  client: OpenEnvClient,
  { first, reset = {}, instructions, show, ...others }: WantedTasks,
): ReturnType<Host['rows']> {
  for (const option of Object.keys(others))
    throw wrongInput('environment.option', `--${option} means nothing to a server of OpenEnv.`, {
      expected: '--first, --reset, --instructions and --show',
    });
  const more = { ...(instructions === undefined ? {} : { instructions }), ...(show ? { show } : {}) };
  const places = Array.from({ length: first }, (_, seed): OpenEnvPlace => {
    return { protocol: 'openenv', reset: { ...reset, seed }, ...more };
  });
  const rows: object[] = [];
  const seen = new Set<string>();
  for (const place of places) {
    const { session, first: observed } = await client.begin(place.reset);
    session.close();
    const prompt = promptOf(observed, place);
    if (!prompt)
      throw wrongInput('environment.prompt', 'The first observation of the environment says nothing.', {
        expected: show ? `fields among ${Object.keys(observed.observation).join(', ')}` : 'something to read',
        next: 'Tell the policy what to do with --instructions TEXT.',
      });
    const question = seen.has(prompt) ? `${prompt}\n\n(seed ${place.reset.seed})` : prompt;
    seen.add(prompt);
    rows.push({ question, answer: UNKNOWN_ANSWER, metadata: place });
  }
  return { place: 'an environment of OpenEnv', rows };
}

export const openEnvHost = (client: OpenEnvClient): Host => ({
  check: async () => {
    await client.actionSchema();
  },
  rows: (wanted) => rowsOf(client, wanted),
  open: (task, session) => open(client, task, session),
});
