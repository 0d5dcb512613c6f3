import type { MediaGroup } from '../media/groups.ts'
import type { ParameterSpecs } from './parameter.ts'

/**
 * Parameters with a defined name and meaning that no shipped plugin has. Requests with them return 501 until a drop-in has one of
 * that name among its `params`.
 */
export const RESERVED_PARAMETERS: Readonly<Partial<Record<MediaGroup, ParameterSpecs>>> = {
  image: { remove_background: { type: 'flag', aliases: ['rm_bg'], help: 'Removes the background.' } },
}
