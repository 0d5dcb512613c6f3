import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

// What is alive is 45 MB. By itself V8 lets garbage that has grown old pile up to fourfold of that before it collects:
// 290 MB resident after 10,000 mixed requests.
const ENOUGH_BYTES = 80 * 1024 ** 2
const GROWTH = 1.5
const LOOK_MS = 250
// What thousands of readers have left is garbage outside of the heap, which V8 is in no hurry to collect: 350 MB stayed for
// half a minute and more. With 45 MB alive a collection takes some 50 ms.
const LARGE_RESIDENT_BYTES = 200 * 1024 ** 2
const LOOKS_BETWEEN = 60

/**
 * Has the memory of this process follow what is alive in it: looks four times a second, and collects garbage when the
 * heap holds more than 80 MB and half as much again as was alive the last time. Also every 15 s while the process has more
 * than 200 MB in memory. It is no limit.
 */
export function watchHeap(): void {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  let enough = ENOUGH_BYTES
  let looks = 0
  const look = () => {
    looks += 1
    const isDue = looks >= LOOKS_BETWEEN && process.memoryUsage.rss() > LARGE_RESIDENT_BYTES
    if (!isDue && getHeapStatistics().used_heap_size <= enough) return
    collect()
    looks = 0
    enough = Math.max(ENOUGH_BYTES, GROWTH * getHeapStatistics().used_heap_size)
  }
  setInterval(look, LOOK_MS).unref()
}
