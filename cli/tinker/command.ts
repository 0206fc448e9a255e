/** `npx rollmesh tinker`: this machine's learner behind Tinker's training API, for scripts that are written against it. */
import { Command, Option } from 'commander';
import { calledAs } from '../called-as.ts';
import { collect, port, whole } from '../shared/run-options.ts';
import type { TinkerOptions } from './run.ts';

export const command = (): Command =>
  new Command(calledAs('tinker'))
    .description(
      'Answers Tinker’s training API on this machine: trains adapters of small models for scripts of its client library, and for `learner --backend`.',
    )
    .requiredOption(
      '--model <model>',
      'a model that scripts may name as their base: a folder in the Hugging Face layout, the name of a start policy, or NAME=FOLDER (repeat)',
      (model: string, before: readonly string[] = []) => collect(model, before),
    )
    .option('--port <n>', 'port on 127.0.0.1', port, 8788)
    .option('--state <dir>', 'folder of all local state; checkpoints are in its folder tinker', '.rollmesh')
    .addOption(
      new Option('--device <name>', 'where to compute').choices(['auto', 'cpu', 'webgpu']).default('auto'),
    )
    .option('--threads <n>', 'threads of the CPU device', whole(1))
    .addHelpText('after', '\nWhere the variable TINKER_API_KEY is set, callers must send that key.')
    .action(async (options: TinkerOptions) => {
      // Loaded only now: tfjs and the runtimes take seconds, and help needs none of them.
      const { serve } = await import('./run.ts');
      await serve(options);
    });
