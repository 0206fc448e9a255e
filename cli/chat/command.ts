/** `rollmesh chat NAME`: talks with a version of a policy through the mesh's own endpoint, in the terminal or over a pipe. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Command, Option } from 'commander';
import { RollmeshError } from '../../core/errors.ts';
import { ENGINES, type Engine } from '../../core/policy/policy.ts';
import { ensureIfStart } from '../../local/starts.ts';
import type { ChatBody, GatewayClient } from '../../workers/api/gateway-client.ts';
import { calledAs } from '../called-as.ts';
import { temperature } from '../policy/command-line.ts';
import { printable, printableLines } from '../printable.ts';
import { openMesh } from '../shared/mesh-access.ts';
import { whole } from '../shared/run-options.ts';

interface ChatOptions {
  readonly system?: string;
  readonly temperature: number;
  readonly maxNew?: number;
  readonly seed?: number;
  readonly engine: Engine;
  readonly state: string;
}

type Message = ChatBody['messages'][number];

/** Prints an answer as it comes, and returns it whole. */
async function answerOf(gateway: GatewayClient, body: ChatBody): Promise<string> {
  let text = '';
  for await (const added of gateway.streamChat(body)) {
    text += added;
    process.stdout.write(printableLines(added));
  }
  process.stdout.write('\n');
  return text;
}

async function chat(model: string, options: ChatOptions): Promise<void> {
  const { gateway, close } = await openMesh(options.state);
  try {
    // A mesh elsewhere is only asked; the local one is given a start policy that it has not had a run of.
    if (!process.env.ROLLMESH_URL) await ensureIfStart(gateway, model.replace(/[@/].*$/, ''));
    const settings = {
      model,
      temperature: options.temperature,
      engine: options.engine,
      ...(options.maxNew === undefined ? {} : { max_tokens: options.maxNew }),
      ...(options.seed === undefined ? {} : { seed: options.seed }),
    };
    const opening: Message[] = options.system ? [{ role: 'system', content: options.system }] : [];
    let messages = opening;
    const interactive = process.stdin.isTTY;
    const lines = createInterface({
      input: process.stdin,
      ...(interactive ? { output: process.stdout, prompt: '> ' } : {}),
    });
    const invite = () => interactive && lines.prompt();
    if (interactive)
      console.log(`Talking with ${printable(model)}. /new forgets what was said, Ctrl-D ends.`);
    invite();
    for await (const line of lines) {
      const content = line.trim();
      if (content === '/new') messages = opening;
      else if (content) {
        const asked: Message[] = [...messages, { role: 'user', content }];
        try {
          const answer = await answerOf(gateway, { ...settings, messages: asked });
          messages = [...asked, { role: 'assistant', content: answer }];
        } catch (error) {
          // At a terminal the conversation goes on as it was; over a pipe the error ends the command.
          if (!interactive || !(error instanceof RollmeshError)) throw error;
          console.error(printable(error.message));
        }
      }
      invite();
    }
    if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain');
  } finally {
    await close();
  }
}

export const command = (): Command =>
  new Command(calledAs('chat'))
    .description(
      'Talks with a version of a policy. What is typed goes to the policy’s own chat template, with what was said before; over a pipe, each line is a message.',
    )
    .argument('<model>', 'NAME for the newest version, NAME@VERSION for an exact one')
    .option('--system <text>', 'a message that comes before the conversation')
    .option('--temperature <t>', '0 = greedy', temperature, 1)
    .option('--max-new <n>', 'longest answer in tokens', whole(1))
    .option('--seed <n>', 'seed of every draw (default: another one each time)', whole(0))
    .addOption(new Option('--engine <name>', 'what computes the policy').choices(ENGINES).default('kernels'))
    .option('--state <dir>', 'folder of all local state', '.rollmesh')
    .addHelpText('after', '\nA deployed mesh: set ROLLMESH_URL and LEARNER_TOKEN.')
    .action(chat);
