import { buildUrl } from '../delivery/build-url.ts'
import type { TransformParameters } from '../delivery/parameters.ts'

// The delivery URL of a file, an alias, a remote file or an object of another system.
const DELIVERY = /\/v1\/[a-z]+\/(?:upload|alias|fetch|foreign)\//

/** Short names of parameters that a framework sets, with their long names. */
const LONG_NAMES = { w: 'width', h: 'height', f: 'format', q: 'quality', bg: 'background' } as const

/** Parameters as frameworks set them: without type, since their values come from attributes. */
export type FrameworkParameters = Readonly<Record<string, unknown>>

/**
 * A delivery URL with the parameters of a framework, and `f=auto` when no format is requested. A parameter that `src` has already
 * takes precedence. Returns other URLs unchanged, and signed ones too: further parameters would invalidate the signature.
 */
export function frameworkUrl(src: string, parameters: FrameworkParameters): string {
  const [path = '', query = ''] = src.split('?')
  const own = new URLSearchParams(query)
  if (!DELIVERY.test(path) || own.has('s')) return src
  const isOwn = (name: string) => own.has(name) || own.has(LONG_NAMES[name as keyof typeof LONG_NAMES])
  const isFormatOpen = !own.has('preset') && parameters.preset === undefined
  const all = { ...parameters, f: parameters.f ?? (isFormatOpen ? 'auto' : undefined) }
  const missing = Object.entries(all).filter(
    ([name, value]) => value !== '' && value !== null && !isOwn(name),
  )
  return buildUrl(src, Object.fromEntries(missing) as TransformParameters)
}
