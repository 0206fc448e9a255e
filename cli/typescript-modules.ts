/**
 * Lets the program import the user's TypeScript modules, which may import `rollmesh` from a clone as from the package. A Node that strips
 * types runs them as they are, and in a clone only that name is resolved. For an older Node tsx does it; in a clone it is there from the start.
 */
import nodeModule from 'node:module';
import { pathToFileURL } from 'node:url';
import { BUILT, installed, moduleFile, PUBLIC_MODULES } from '../local/mesh/installation.ts';

let typeScript: Promise<void> | undefined;

async function load(): Promise<void> {
  // A script of the install, which is not compiled into the package.
  const { href } = pathToFileURL(installed('cli/install', 'strips-types.mjs'));
  const { STRIPS_TYPES } = (await import(href)) as { readonly STRIPS_TYPES: boolean };
  if (BUILT) {
    if (!STRIPS_TYPES) (await import('tsx/esm/api')).register();
  } else if (STRIPS_TYPES)
    nodeModule.registerHooks({
      resolve(specifier, context, next) {
        const module = PUBLIC_MODULES[specifier];
        return module
          ? { url: pathToFileURL(moduleFile(module)).href, shortCircuit: true }
          : next(specifier, context);
      },
    });
}

export const readTypeScript = (): Promise<void> => {
  typeScript ??= load();
  return typeScript;
};
