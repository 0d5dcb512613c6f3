import { assetFromBytes } from '../../core/bytes/asset.ts'
import { INFORMATION_VARIANT } from '../../core/files/variant.ts'
import { type Format, formatOfMediaType, isOffice, isText, transformedAs } from '../../core/media/formats.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import {
  type ImageInformation,
  type ImageInspector,
  type MediaInspector,
  SMALL_SIDE,
} from '../../core/plugin-api/inspectors.ts'
import type { Plan, Planner, Step } from '../plan/plan.ts'
import type { Runner } from './run.ts'

/** Whether a transformation reads the information about files of this format. */
export function isInspected(format: Format): boolean {
  // A text is only read. An Office document would need a job.
  if (isText(format) || isOffice(format)) return false
  return transformedAs(format) === 'image' || isProbed(format.group)
}

/** Whether ffprobe reads the information of this group. */
function isProbed(group: MediaGroup): boolean {
  return group === 'video' || group === 'audio'
}

// Internal, so no query names it. It selects the engine, and has no operation.
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
 * Plans the information about a file, under a variant that no query leads to. For an image it renders a small copy,
 * for video and audio it reads the headers. So it is admitted, limited, shared, stored, swept and deleted as any
 * other derivative.
 *
 * @throws Problem 400 when a plugin that it needs is disabled
 */
export function informationPlan(plan: Planner, format: Format): Plan {
  if (isProbed(format.group))
    return { steps: [PROBING], variant: INFORMATION_VARIANT, variesBy: [], notes: [] }
  const side = String(SMALL_SIDE)
  const query = Object.entries({ w: side, h: side, fit: 'inside', f: 'png' })
  return { ...plan({ query, format, preferences: {} }), variant: INFORMATION_VARIANT }
}

/** Wraps a runner, so that an {@link informationPlan} returns JSON: {@link ImageInformation} or `MediaFacts`. */
export function informedRunner(
  run: Runner,
  { images, media }: { images: ImageInspector; media: MediaInspector },
): Runner {
  return async (plan, source, context) => {
    if (plan.variant !== INFORMATION_VARIANT) return run(plan, source, context)
    if (isProbed(formatOfMediaType(source.mediaType).group)) return asJson(await media.facts(source, context))
    const { signal, limits } = context
    const colors = await images.colors(await run(plan, source, context), signal)
    const facts = await images.facts(source, { maxBytes: limits.sourceMaxBytes, decodes: true, signal })
    if (!facts) throw new Error('a decoded image has no header')
    const information: ImageInformation = { ...facts, ...colors }
    return asJson(information)
  }
}

function asJson(known: object) {
  const bytes = Buffer.from(JSON.stringify(known))
  return assetFromBytes(bytes, { mediaType: 'application/json', lastModified: new Date() })
}
