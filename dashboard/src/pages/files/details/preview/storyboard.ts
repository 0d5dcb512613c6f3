/** A tile of the sprite of a storyboard. */
export interface Tile {
  /** In seconds. */
  from: number
  to: number
  x: number
  y: number
  width: number
  height: number
}

/** The tiles of a storyboard: WebVTT whose cues name parts of one image. */
export interface Storyboard {
  sprite: string
  tiles: Tile[]
}

const CUE = /(\S+) --> (\S+)\s+(\S+)#xywh=(\d+),(\d+),(\d+),(\d+)/g

/** Reads a storyboard. `url`: where it is, since it names its sprite relative to it. */
export function parseStoryboard(vtt: string, url: string): Storyboard | undefined {
  const cues = [...vtt.matchAll(CUE)]
  const name = cues[0]?.[3]
  if (name === undefined) return undefined
  const tiles = cues.map(([, from = '', to = '', , ...numbers]): Tile => {
    const [x = 0, y = 0, width = 0, height = 0] = numbers.map(Number)
    return { from: seconds(from), to: seconds(to), x, y, width, height }
  })
  return { sprite: new URL(name, url).href, tiles }
}

/** `01:02:03.500` and `02:03.500`. */
function seconds(time: string): number {
  return time.split(':').reduce((total, part) => 60 * total + Number(part), 0)
}
