/** Tools that the mesh itself carries out while a policy answers a question: what each does follows from its arguments alone, so that an audit does it again. */
import * as v from 'valibot';
import type { Tool } from '../../core/renderer/message.ts';
import { runJavaScript } from '../../core/sandbox/run-javascript.ts';
import type { ToolCall } from '../../core/serving/tool-calls.ts';

interface OwnTool {
  readonly description: string;
  /** Its one argument, a text. */
  readonly argument: string;
  readonly about: string;
  readonly run: (given: string) => string;
}

const TOOLS = {
  run_javascript: {
    description:
      'Runs a program in JavaScript and returns what it writes by console.log, and the value of its last expression. It has no files, no network and no clock.',
    argument: 'code',
    about: 'The program.',
    run: (code) => runJavaScript(code).text,
  },
} as const satisfies Readonly<Record<string, OwnTool>>;

export type ToolName = keyof typeof TOOLS;
export const TOOL_NAMES = Object.keys(TOOLS) as ToolName[];

/** The tools as chat templates describe them. */
export const described = (names: readonly ToolName[]): Tool[] =>
  names.map((name) => {
    const { description, argument, about } = TOOLS[name];
    return {
      type: 'function',
      function: {
        name,
        description,
        parameters: {
          type: 'object',
          properties: { [argument]: { type: 'string', description: about } },
          required: [argument],
        },
      },
    };
  });

/** What a call comes to. A call that is wrong is told what is wrong with it. */
export function carriedOut(names: readonly ToolName[], { name, arguments: given }: ToolCall): string {
  const known = names.find((one) => one === name);
  if (!known) return `There is no tool ${JSON.stringify(name.slice(0, 60))}. There is ${names.join(', ')}.`;
  const { argument, run } = TOOLS[known];
  const read = v.safeParse(
    v.pipe(v.string(), v.parseJson(), v.looseObject({ [argument]: v.string() })),
    given,
  );
  if (!read.success) return `${known} takes an object with "${argument}", a text.`;
  return run(read.output[argument] as string);
}
