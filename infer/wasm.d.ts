/** The type of an imported .wasm file: bundlers for Workers provide it as a compiled module. */
declare module '*.wasm' {
  const module: WebAssembly.Module;
  export default module;
}
