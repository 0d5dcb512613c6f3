import { assetFromBytes } from '../../core/bytes/asset.ts'
import { INFORMATION_VARIANT } from '../../core/files/variant.ts'
import { type Format, formatOfMediaType } from '../../core/media/formats.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import {
  type ImageInformation,
  type ImageInspector,
  type MediaInspector,
  SMALL_SIDE,
} from '../../core/plugin-api/inspectors.ts'
import type { Plan, Planner, Step } from '../plan/plan.ts'
import type { Runner } from './run.ts'

/** Whether there is more to know of files of a group than what they are stored with. */
export function isInspected(group: MediaGroup): boolean {
  return group === 'image' || isProbed(group)
}

/** Those of which ffprobe tells. */
function isProbed(group: MediaGroup): boolean {
  return group === 'video' || group === 'audio'
}

// No query names it: the engine whose turn it is, and nothing to be done.
const PROBING: Step = {
  plugin: {
    name: 'information',
    engine: 'ffmpeg',
    phase: 'prepare',
    makes: 'json',
    params: {},
    transform: (draft) => draft,
  },
  media: ['video', 'audio'],
  options: {},
  fingerprint: undefined,
  params: {},
}

/**
 * A plan for what is to be known of a file, under the name that no query leads to: of a picture, one for a small copy of it;
 * of a video or sound, a look at its headers. So it is admitted, limited, shared, stored, swept and deleted as any other
 * derivative.
 *
 * @throws Problem 400 where a plugin that it needs is disabled
 */
export function informationPlan(plan: Planner, format: Format): Plan {
  if (isProbed(format.group))
    return { steps: [PROBING], variant: INFORMATION_VARIANT, variesByAccept: false, notes: [] }
  const side = String(SMALL_SIDE)
  const query = Object.entries({ w: side, h: side, fit: 'inside', f: 'png' })
  return { ...plan({ query, format, accept: '' }), variant: INFORMATION_VARIANT }
}

/**
 * The same runner, which knows what to make of an {@link informationPlan}: JSON of {@link ImageInformation}, or of
 * `MediaFacts`.
 */
export function informedRunner(
  run: Runner,
  { images, media }: { images: ImageInspector; media: MediaInspector },
): Runner {
  return async (plan, source, context) => {
    if (plan.variant !== INFORMATION_VARIANT) return run(plan, source, context)
    if (isProbed(formatOfMediaType(source.mediaType).group)) return asJson(await media.facts(source, context))
    const { signal, limits } = context
    const colors = await images.colors(await run(plan, source, context), signal)
    const facts = await images.facts(source, { maxBytes: limits.sourceMaxBytes, signal })
    if (!facts) throw new Error('a decoded image has no header')
    const information: ImageInformation = { ...facts, ...colors }
    return asJson(information)
  }
}

function asJson(known: object) {
  const bytes = Buffer.from(JSON.stringify(known))
  return assetFromBytes(bytes, { mediaType: 'application/json', lastModified: new Date() })
}
