import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The heap that this process uses after a collection of garbage, in bytes. */
export function usedHeap(): number {
  collect()
  return process.memoryUsage().heapUsed
}

let gc: (() => void) | undefined

function collect(): void {
  if (!gc) {
    setFlagsFromString('--expose-gc')
    gc = runInNewContext('gc') as () => void
  }
  gc()
}
