/**
 * How servers load adapters onto the model that they hold, and drop them, each by its own routes: vLLM and SGLang from a folder of PEFT, and
 * llama-server as a router (`--models-preset`), where an adapter is a model of its own that reads the base model's file from the same disk.
 * Node and server see one folder under one path.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { type RollmeshError, wrongInput } from '../../core/errors.ts';
import { askServer, checked, refusedBy, rootOf, sendTo } from '../../infer/remote/server.ts';
import { alone } from '../../local/mesh/alone.ts';
import {
  type AdapterServer,
  adapterLost,
  FollowedVersions,
  type ServerOfNode,
  type StoredAdapter,
} from '../../local/node/followed-versions.ts';
import { readAdapter } from '../../model/adapter.ts';
import { ggufAdapter } from '../../model/gguf/adapter.ts';
import { peftFiles } from '../../model/peft.ts';
import { errnoOf } from '../policy/files.ts';

/** Writes below a folder. @throws RollmeshError `node.adapters` where that cannot be done */
async function writing(folder: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (cause) {
    const code = errnoOf(cause);
    if (code === undefined) throw cause;
    throw wrongInput('node.adapters', `The folder ${folder} of --adapters cannot be written: ${code}.`, {
      expected: 'a folder that this node may write, with room for an adapter of each version',
      cause,
    });
  }
}

/** How long a server may take to load an adapter, ms. */
const LOAD_MS = 300_000;
/** The first and the longest pause between two questions whether it is there, ms. */
const POLL_MS = [20, 1_000] as const;

const cannot = (server: ServerOfNode, reason: string, next: string) =>
  wrongInput('node.adapters', `${server.dialect} at ${server.baseUrl} loads no adapters: ${reason}.`, {
    expected: 'a server that loads each version’s adapter while it runs',
    next: `${next} Without --adapters a node leases the version of --serves alone.`,
  });

const refused = (server: ServerOfNode, name: string, reason: string) =>
  wrongInput('node.adapters', `${server.dialect} at ${server.baseUrl} did not load ${name}: ${reason}.`, {
    expected: 'a server that holds the base weights of this policy, and takes adapters of this rank',
    next: 'Check --serves, --model and --adapters, and the rank that the server was started for. The requests were given back.',
  });

const models = v.object({ data: v.array(v.object({ id: v.string(), root: v.nullish(v.string()) })) });

/** How each of them is started so that it loads adapters. */
const STARTS = {
  vllm: 'Start it as `VLLM_ALLOW_RUNTIME_LORA_UPDATING=True vllm serve MODEL --enable-lora --max-lora-rank RANK`.',
  sglang:
    'Start it with `--enable-lora --max-lora-rank RANK --lora-target-modules all`, or with a release that has the route.',
} as const;

class PeftServer implements AdapterServer {
  readonly #server: ServerOfNode;
  readonly #dialect: keyof typeof STARTS;
  readonly #folder: string;
  readonly #prefix: string;

  constructor(server: ServerOfNode, dialect: keyof typeof STARTS, folder: string, prefix: string) {
    this.#server = server;
    this.#dialect = dialect;
    this.#folder = folder;
    this.#prefix = prefix;
  }

  async begin(): Promise<void> {
    const probe = `${this.#prefix}none`;
    const { status, text } = await this.#send('load_lora_adapter', {
      lora_name: probe,
      lora_path: this.#pathOf(probe),
    });
    if (status === 401 || status === 403 || status >= 500) throw refusedBy({ status, text });
    const why =
      status < 300
        ? 'it says to have loaded one from a folder that is not there'
        : /lora is not enabled/i.test(text)
          ? 'LoRA is not enabled'
          : status === 404 && !text.includes(probe)
            ? 'it has no route for that'
            : undefined;
    if (why) throw cannot(this.#server, why, STARTS[this.#dialect]);
    for (const { id } of await this.#list()) if (id.startsWith(this.#prefix)) await this.drop(id);
  }

  has = async (name: string): Promise<boolean> => (await this.#list()).some(({ id }) => id === name);

  async load(name: string, { bytes }: StoredAdapter): Promise<void> {
    const path = this.#pathOf(name);
    // An answer that was lost: it loaded this very adapter.
    if (!(await this.has(name))) {
      const { files } = peftFiles(bytes, this.#server.model);
      await writing(this.#folder, async () => {
        await mkdir(path, { recursive: true });
        for (const [file, content] of Object.entries(files)) await writeFile(join(path, file), content);
      });
      const answer = await this.#send('load_lora_adapter', { lora_name: name, lora_path: path });
      if (answer.status >= 500) throw refusedBy(answer);
      if (answer.status >= 300) throw refused(this.#server, name, reasonIn(answer.text));
    }
    const found = (await this.#list()).find(({ id }) => id === name);
    if (!found) throw adapterLost(this.#server, name);
    if (found.root && found.root !== path) throw refused(this.#server, name, `it has that of ${found.root}`);
  }

  async drop(name: string): Promise<void> {
    const answer = await this.#send('unload_lora_adapter', { lora_name: name });
    if (answer.status >= 300 && (await this.has(name))) throw refusedBy(answer);
    // Not before: a server may read it again.
    await rm(this.#pathOf(name), { recursive: true, force: true });
  }

  #pathOf = (name: string) => join(this.#folder, name);

  #send(route: string, body: object) {
    const url = `${rootOf(this.#server)}${this.#dialect === 'vllm' ? '/v1' : ''}/${route}`;
    return sendTo({ ...this.#server, timeoutMs: LOAD_MS }, url, body);
  }

  async #list() {
    return checked(models, await askServer(this.#server, `${rootOf(this.#server)}/v1/models`)).data;
  }
}

const refusals = v.pipe(
  v.string(),
  v.parseJson(),
  v.union([
    v.pipe(
      v.object({ error: v.object({ message: v.string() }) }),
      v.transform(({ error }) => error.message),
    ),
    v.pipe(
      v.object({ error_message: v.string() }),
      v.transform(({ error_message: message }) => message),
    ),
    v.pipe(
      v.object({ message: v.string() }),
      v.transform(({ message }) => message),
    ),
  ]),
);

/** What a server says of why it refused. */
function reasonIn(text: string): string {
  const { success, output } = v.safeParse(refusals, text);
  return (success ? output : text).slice(0, 300).trim().replace(/\.$/, '');
}

const props = v.object({ role: v.optional(v.string()) });
const routed = v.object({
  data: v.array(
    v.object({
      id: v.string(),
      status: v.object({
        value: v.string(),
        failed: v.optional(v.boolean()),
        exit_code: v.optional(v.number()),
      }),
    }),
  ),
});
const applied = v.array(v.object({ path: v.string(), scale: v.number() }));

/** What a router says of a model whose process answers. */
const RUNS = ['loaded', 'sleeping'];
/** The file that the router reads its models from. */
const PRESETS = 'models.ini';
/** Lines of the base model's section that are not for its adapters. */
const OF_BASE = /^\s*(load-on-startup|alias)\s*=.*\n?/gm;

class Router implements AdapterServer {
  readonly #server: ServerOfNode;
  readonly #folder: string;
  readonly #prefix: string;

  constructor(server: ServerOfNode, folder: string, prefix: string) {
    this.#server = server;
    this.#folder = folder;
    this.#prefix = prefix;
  }

  async begin(): Promise<void> {
    const path = join(this.#folder, PRESETS);
    const start = `Start it without a model, as \`llama-server --models-preset ${path}\`, where ${path} has a section [${this.#server.model}] with \`model = FILE.gguf\`.`;
    const { role } = checked(props, await askServer(this.#server, `${rootOf(this.#server)}/props`));
    if (role !== 'router')
      throw cannot(this.#server, 'it holds one model, and takes adapters only when it starts', start);
    const text = await readFile(path, 'utf8').catch(() => '');
    if (sectionOf(text, this.#server.model) === undefined)
      throw cannot(this.#server, `${path} has no section [${this.#server.model}]`, start);
    await this.#change((sections) => sections.filter((section) => !section.startsWith(`[${this.#prefix}`)));
    if (!(await this.#list()).some(({ id }) => id === this.#server.model))
      throw cannot(this.#server, `it does not read ${path}`, start);
  }

  has = async (name: string): Promise<boolean> => RUNS.includes((await this.#statusOf(name))?.value ?? '');

  async load(name: string, { config, bytes }: StoredAdapter): Promise<void> {
    const path = this.#pathOf(name);
    const file = ggufAdapter(name, config, readAdapter(bytes));
    await writing(this.#folder, () => writeFile(path, file));
    await this.#change((sections) => [
      ...sections.filter((section) => !section.startsWith(`[${name}]`)),
      `[${name}]\n${sectionOf(sections.join(''), this.#server.model)!.replace(OF_BASE, '').trim()}\nlora = ${path}\n`,
    ]);
    await askServer(this.#server, this.#url('models/load'), { model: name });
    const began = Date.now();
    for (let pause: number = POLL_MS[0]; ; pause = Math.min(2 * pause, POLL_MS[1])) {
      const status = await this.#statusOf(name);
      if (status && RUNS.includes(status.value)) break;
      if (!status || status.failed)
        throw refused(
          this.#server,
          name,
          status ? `its process ended with ${status.exit_code}` : 'it has no such model',
        );
      if (Date.now() - began > LOAD_MS) throw adapterLost(this.#server, name);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    const url = this.#url(`lora-adapters?model=${encodeURIComponent(name)}`);
    const has = checked(applied, await askServer(this.#server, url));
    if (has.length !== 1 || has[0]!.path !== path || has[0]!.scale !== 1)
      throw refused(this.#server, name, `it computes with ${JSON.stringify(has)}`);
  }

  async drop(name: string): Promise<void> {
    // A process that has ended is refused, and is what is wanted.
    await sendTo(this.#server, this.#url('models/unload'), { model: name });
    await this.#change((sections) => sections.filter((section) => !section.startsWith(`[${name}]`)));
    await rm(this.#pathOf(name), { force: true });
  }

  #pathOf = (name: string) => join(this.#folder, `${name}.gguf`);
  #url = (route: string) => `${rootOf(this.#server)}/${route}`;

  /** Writes the file anew, and has the router read it; what is loaded and stands in it as before goes on. */
  async #change(change: (sections: readonly string[]) => readonly string[]): Promise<void> {
    const path = join(this.#folder, PRESETS);
    await writing(this.#folder, async () =>
      // Other nodes may have the same router.
      alone(path, () => {
        writeFileSync(`${path}.new`, change(sectionsOf(readFileSync(path, 'utf8'))).join(''));
        renameSync(`${path}.new`, path);
      }),
    );
    await askServer(this.#server, this.#url('models?reload=1'));
  }

  async #list() {
    return checked(routed, await askServer(this.#server, this.#url('models'))).data;
  }

  async #statusOf(name: string) {
    return (await this.#list()).find(({ id }) => id === name)?.status;
  }
}

/** The parts of an INI file, each with its heading; what stands before the first is one, too. */
const sectionsOf = (text: string): string[] =>
  text.split(/^(?=\[)/m).map((section) => (section.endsWith('\n') || !section ? section : `${section}\n`));

/** The lines below a heading. */
const sectionOf = (text: string, name: string): string | undefined =>
  sectionsOf(text)
    .find((section) => section.startsWith(`[${name}]`))
    ?.replace(/^.*\n/, '');

/**
 * Has a server follow versions by adapters.
 * @throws RollmeshError `node.adapters` where it loads none while it runs
 */
export async function follow(
  server: ServerOfNode,
  {
    folder,
    node,
    trouble,
  }: {
    /** Where adapters are written, as node and server see it. */
    readonly folder: string;
    readonly node: string;
    readonly trouble: (error: RollmeshError) => void;
  },
): Promise<FollowedVersions> {
  const prefix = `rollmesh-${node.slice(0, 12)}-`;
  await writing(folder, async () => {
    await mkdir(folder, { recursive: true });
    const probe = join(folder, `${prefix}probe`);
    await writeFile(probe, '');
    await rm(probe);
  });
  const { dialect } = server;
  const adapters =
    dialect === 'llama.cpp'
      ? new Router(server, folder, prefix)
      : new PeftServer(server, dialect, folder, prefix);
  await adapters.begin();
  // What an earlier process had written, for a server that may have ended as well.
  await writing(folder, async () => {
    for (const file of await readdir(folder))
      if (file.startsWith(prefix)) await rm(join(folder, file), { recursive: true, force: true });
  });
  return new FollowedVersions(adapters, server, prefix, trouble);
}
