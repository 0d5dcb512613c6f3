import { PHASES, type TransformPlugin } from '../../core/plugin-api/plugin.ts'

/**
 * Sluice's own plugins in the order in which they run, unless `config/chain.json` has another order. The names of stored
 * variants depend on this order. The first plugins render images of videos and sounds, so they precede all image plugins. The others are
 * sorted by phase, and within a phase by media group: audio, image, video, as their names sort. A plugin that is not listed
 * here keeps its place by phase and name.
 */
export const SHIPPED_ORDER: readonly string[] = [
  'video-thumbnail',
  'audio-cover',
  'application-pdf',
  'application-thumbnail',
  'audio-trim',
  'image-orient',
  'image-conceal',
  'image-trim',
  'video-trim',
  'image-crop',
  'image-resize',
  'image-rotate',
  'image-flip',
  'image-flop',
  'video-vertical',
  'video-resize',
  'audio-loudness',
  'image-normalize',
  'image-gamma',
  'image-modulate',
  'image-tint',
  'image-greyscale',
  'image-negate',
  'image-duotone',
  'image-lut',
  'image-blur',
  'image-pixelate',
  'image-sharpen',
  'video-mute',
  'audio-waveform',
  'image-pad',
  'image-vignette',
  'image-gradient',
  'image-watermark',
  'image-watermark-2',
  'image-watermark-3',
  'image-text',
  'image-text-2',
  'image-text-3',
  'image-radius',
  'image-background',
  'audio-format',
  'image-format',
  'video-quality',
  'video-key-frames',
  'video-format',
  'video-hls',
  'video-storyboard',
]

const SHIPPED_POSITIONS: ReadonlyMap<string, number> = new Map(SHIPPED_ORDER.map((name, i) => [name, i]))

interface Ordered {
  plugin: Pick<TransformPlugin, 'name' | 'phase'>
}

/** Sorts by phase and name. Then the plugins that a list names exchange their places, so that they follow its order. */
export function inOrder<L extends Ordered>(transforms: readonly L[], order: readonly string[]): L[] {
  const natural = [...transforms].sort(
    (a, b) =>
      PHASES.indexOf(a.plugin.phase) - PHASES.indexOf(b.plugin.phase) ||
      (a.plugin.name < b.plugin.name ? -1 : 1),
  )
  return arranged(arranged(natural, SHIPPED_ORDER), order)
}

/** Whether these run in the order that they have without `config/chain.json`. Every delivery calls this. */
export function areInOrder(transforms: readonly Ordered[]): boolean {
  const positions = transforms.map(({ plugin }) => SHIPPED_POSITIONS.get(plugin.name))
  if (positions.includes(undefined)) {
    const natural = inOrder(transforms, [])
    return transforms.every((one, i) => one === natural[i])
  }
  return positions.every((position, i) => i === 0 || Number(positions[i - 1]) < Number(position))
}

function arranged<L extends Ordered>(natural: readonly L[], order: readonly string[]): L[] {
  const listed = order.flatMap((name) => natural.filter(({ plugin }) => plugin.name === name))
  let next = 0
  return natural.map((one) => (order.includes(one.plugin.name) ? (listed[next++] ?? one) : one))
}
