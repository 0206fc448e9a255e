/**
 * `rollmesh init FOLDER`: makes a project, named like the folder: a copy of examples/guest, with a recipe of its own, tasks, Workers and a
 * test; with `--tasks` of examples/tasks, with a file of questions, a reward and a configuration; with `--world` of examples/world, with a world for recipes.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import * as v from 'valibot';
import { wrongInput } from '../core/errors.ts';
import { ENVIRONMENT_WORKER } from '../core/round/stages.ts';
import { name as projectName } from '../core/schema/sample.ts';
import { BUILT, INSTALLATION, installed } from '../local/mesh/installation.ts';
import { calledAs } from './called-as.ts';

/** The project's name in the templates. */
const TEMPLATE_NAME = 'my-run';
/** The folder in which a project finds the files of the installed package. */
const PACKAGE = 'node_modules/rollmesh';

/** What a new project begins as: a folder of examples/. */
type Template = 'guest' | 'tasks' | 'world';

/** The files of a new project by path. */
export function projectFiles(name: string, template: Template = 'guest'): Map<string, string> {
  const folder = installed('examples', template);
  const templates = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll('\\', '/'),
    );
  const files = new Map(
    templates.map((path) => {
      const text = readFileSync(join(folder, path), 'utf8').replaceAll(TEMPLATE_NAME, name);
      // npm leaves files named .gitignore out of a package.
      return [path === 'gitignore' ? '.gitignore' : path, text];
    }),
  );
  files.set('package.json', withVersions(files.get('package.json')!));
  // The other projects have no Workers of their own: those of the package are started.
  if (template === 'guest')
    files.set('wrangler.toml', guestConfig(readFileSync(installed('wrangler.toml'), 'utf8')));
  return files;
}

interface PackageJson {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** The file that this package, or one beside it, was installed from, as a dependency; null where it came from a registry. */
export function installedFrom(installation: string = INSTALLATION, name = 'rollmesh'): string | null {
  const modules = dirname(installation);
  const lock = join(modules, '.package-lock.json');
  if (!existsSync(lock)) return null;
  const { packages } = JSON.parse(readFileSync(lock, 'utf8')) as {
    readonly packages?: Readonly<Record<string, { readonly resolved?: string }>>;
  };
  const resolved = packages?.[`node_modules/${name}`]?.resolved;
  return resolved?.startsWith('file:')
    ? `file:${resolve(dirname(modules), resolved.slice('file:'.length))}`
    : null;
}

/** What the package itself depends on and is packed with it. */
const PACKED_WITH = 'rollmesh-onnxruntime';

/**
 * What a project depends on: in a clone the packages that `npm pack` makes of it, in the project's folder; otherwise the files or the release that
 * the package was installed from. Only a release finds what it depends on by itself.
 */
function packagesOf({ version, dependencies = {} }: PackageJson): Readonly<Record<string, string>> {
  if (!BUILT)
    return {
      rollmesh: `file:rollmesh-${version}.tgz`,
      [PACKED_WITH]: `file:${PACKED_WITH}-${dependencies['onnxruntime-web']}.tgz`,
    };
  const file = installedFrom(INSTALLATION, PACKED_WITH);
  return { rollmesh: installedFrom() ?? `^${version}`, ...(file && { [PACKED_WITH]: file }) };
}

/** The template's dependencies at the versions that this installation has or was made with. */
function withVersions(template: string): string {
  const own = JSON.parse(readFileSync(installed('package.json'), 'utf8')) as PackageJson;
  const versions: Readonly<Record<string, string>> = { ...own.devDependencies, ...own.dependencies };
  const pinned = (wanted: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.keys(wanted).map((name) => [name, versions[name] ?? '*']));
  const project = JSON.parse(template) as PackageJson;
  const { dependencies, devDependencies } = project;
  const done = {
    ...project,
    dependencies: { ...pinned(dependencies), ...packagesOf(own) },
    devDependencies: pinned(devDependencies),
  };
  return `${JSON.stringify(done, null, 2)}\n`;
}

/**
 * The package's wrangler.toml for a project: it names the project's own Workers, and of the installed package the one that knows no recipe, the
 * dashboard and the migrations.
 */
const guestConfig = (text: string): string =>
  text
    .replace(
      `"workers/${ENVIRONMENT_WORKER}/index.ts"`,
      `"${PACKAGE}/dist/workers/${ENVIRONMENT_WORKER}/index.js"`,
    )
    .replaceAll(/main = "workers\/(\w+)\/index\.ts"/g, 'main = "workers/$1.ts"')
    .replaceAll('node cli/install/', `node ${PACKAGE}/cli/install/`)
    .replaceAll('directory = "web/dashboard"', `directory = "${PACKAGE}/web/dashboard"`)
    .replaceAll(/(database_id = "[^"]*") \}/g, `$1, migrations_dir = "${PACKAGE}/migrations" }`);

/** Writes the project. Throws `wrong-input`, before writing, where the folder is not empty or its name cannot be a recipe's. */
export function writeProject(path: string, template: Template = 'guest'): readonly string[] {
  const folder = resolve(path);
  const name = basename(folder);
  if (!v.is(projectName, name))
    throw wrongInput('init.name', `${JSON.stringify(name)} cannot be the name of a recipe.`, {
      expected: 'a folder whose name has 1 to 64 lower-case letters, digits, dots and dashes',
      next: 'Choose another name.',
    });
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw wrongInput('init.folder', `The folder ${folder} is not empty.`, {
      expected: 'a folder that is empty or does not exist yet',
      next: 'Choose another one; nothing was written.',
    });
  const files = projectFiles(name, template);
  for (const [file, text] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return [...files.keys()].sort();
}

export const command = (): Command =>
  new Command(calledAs('init'))
    .description('Writes a project with a recipe of your own: recipe, tasks, Workers, a test.')
    .argument('<folder>', 'folder to write; its name becomes the name of the project')
    .option(
      '--tasks',
      'a project without a recipe of its own: a file of questions, a reward, a configuration',
    )
    .addOption(
      new Option(
        '--world',
        'a project with a world of your own, in which shipped recipes play: tasks, prompts, a test',
      ).conflicts('tasks'),
    )
    .action((folder: string, { tasks, world }: { readonly tasks?: boolean; readonly world?: boolean }) => {
      const template = tasks ? 'tasks' : world ? 'world' : 'guest';
      for (const file of writeProject(folder, template)) console.log(join(folder, file));
      const quoted = /\s/.test(folder) ? `"${folder}"` : folder;
      const pack = BUILT
        ? ''
        : `npm pack --workspace ${PACKED_WITH} --include-workspace-root --pack-destination ${quoted} && `;
      console.log(`\nNext: ${pack}cd ${quoted} && npm install && npm test && npm start`);
    });
