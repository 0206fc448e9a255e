/** The parts of libraries that read files of images, in a module that is loaded when a file needs it. */
export { decode as decodePng } from 'fast-png';
export { Unzlib } from 'fflate';
export { default as jpeg } from 'jpeg-js';
