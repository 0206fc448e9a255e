/** Where the data of a recipe lie that rollmesh wrote as a module: in a file beside the module, so that one bundle of its code serves runs on different files. */
import { basename, dirname, join } from 'node:path';

const FOLDER = 'data';

/** The module that has the data of a recipe's module. */
export const dataOfWritten = (file: string): string => join(dirname(file), FOLDER, basename(file));

/** The line with which a recipe's module imports its data, as the text of a JSON value. */
export const importOfData = (file: string): string => `import text from './${FOLDER}/${basename(file)}';`;
