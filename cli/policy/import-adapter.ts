/** `policy import` of a PEFT folder: the adapter is folded into the checkpoint of its base model, in a folder of its own. */
import { cp, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wrongInput } from '../../core/errors.ts';
import { checkAdapter } from '../../model/adapter.ts';
import { findTensors, storedFile, tensorsOf } from '../../model/checkpoint-files.ts';
import { type PeftAdapter, readPeft } from '../../model/peft.ts';
import { readConfig } from './checkpoint-folder.ts';
import { foldedFile } from './export-checkpoint.ts';
import { parseJson, readOptional } from './files.ts';

/** Weights of the base, which the folder has anew. */
const WEIGHTS = /\.(?:safetensors|bin|pt|pth|gguf|onnx|onnx_data|data)$|\.index\.json$/;

/** The adapter of a folder that has adapter_config.json; undefined for other folders. Throws `checkpoint.files` or `adapter.peft`. */
export async function readAdapterFolder(folder: string): Promise<PeftAdapter | undefined> {
  const path = join(folder, 'adapter_config.json');
  const config = await readOptional(path);
  if (!config) return undefined;
  const weights = await readOptional(join(folder, 'adapter_model.safetensors'));
  if (!weights)
    throw wrongInput('checkpoint.files', `There is no adapter_model.safetensors beside ${path}.`, {
      expected: 'an adapter as PEFT saves it',
    });
  return readPeft(parseJson(config, path), weights);
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/**
 * Writes the base's checkpoint with the adapter folded in, in float32, to a folder that the caller removes.
 *
 * @throws RollmeshError `import.base` where there is no such checkpoint, `adapter.tensor` where the adapter is another model's
 */
export async function foldAdapter(
  { adapter, base: named }: PeftAdapter,
  base: string | undefined = named,
): Promise<string> {
  if (base === undefined || !(await isFolder(base))) {
    const version = /^([a-z0-9.-]+)@(\d+)$/.exec(base ?? '');
    throw wrongInput(
      'import.base',
      base === undefined
        ? 'The adapter does not name its base model.'
        : `The adapter's base model is ${JSON.stringify(base)}, and there is no such folder.`,
      {
        expected: 'the folder of the checkpoint that the adapter was trained on',
        next: version
          ? `Write it by \`npx rollmesh policy export ${version[1]} ${version[2]} DIR\`, and name it with --base DIR.`
          : 'Name it with --base DIR, or --base hf:ORG/NAME.',
      },
    );
  }
  const { config } = await readConfig(base);
  checkAdapter(config, adapter);
  const folder = await mkdtemp(join(tmpdir(), 'rollmesh-adapter-'));
  try {
    for (const name of await readdir(base))
      if (!WEIGHTS.test(name)) await cp(join(base, name), join(folder, name), { recursive: true });
    const plain = join(folder, 'base.safetensors');
    await writeFile(plain, storedFile(config, await findTensors(base), 'F32').read());
    await writeFile(join(folder, 'model.safetensors'), foldedFile(plain, await tensorsOf(plain), adapter));
    await rm(plain);
    return folder;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}
