import { PRESET_WORD } from '../../core/plugin-api/query-names.ts'
import type { PlanInput } from '../../pipeline/plan/plan.ts'
import type { DeliveryRequest } from './deliveries.ts'

/** Whether a derivative is evicted after the others: requested by a trusted caller, or by a preset alone. */
export function isHeldFor({ caller }: Pick<DeliveryRequest, 'caller'>, { query }: PlanInput): boolean {
  return caller.isTrusted || isPresetAlone(query)
}

/** Operators define presets, so strangers cannot request many of them; with another parameter they could. */
function isPresetAlone(query: PlanInput['query']): boolean {
  const names = [...query].map(([name]) => name)
  return names.length > 0 && names.every((name) => name === PRESET_WORD)
}
