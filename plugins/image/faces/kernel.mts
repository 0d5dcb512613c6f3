import { readFile } from 'node:fs/promises'

/** Bytes of a number. */
export const FLOAT = 4

const PAGE = 65_536

/** The two loops of `kernel.wat`, which documents their arguments, and the memory that they work in. */
export interface Kernel {
  floats: Float32Array
  depth(...addresses: [number, number, number, number, number, number, number]): void
  point(...addresses: [number, number, number, number, number, number, number, number]): void
}

// Its types are those of browsers, which this project does not include.
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: {
    Memory: new (size: { initial: number }) => { buffer: ArrayBuffer }
    instantiate(binary: Uint8Array, imports: object): Promise<{ instance: { exports: unknown } }>
  }
}

/** Starts `kernel.wasm`, the compiled `kernel.wat`, with at least this many bytes of memory. */
export async function startKernel(bytes: number): Promise<Kernel> {
  const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE) })
  const binary = await readFile(new URL('kernel.wasm', import.meta.url))
  const { instance } = await WebAssembly.instantiate(binary, { sluice: { memory } })
  const { depth, point } = instance.exports as Kernel
  return { floats: new Float32Array(memory.buffer), depth, point }
}
