import type { Tracing } from '../../core/ports/telemetry/tracing.ts'
import { sampledTrace } from '../../core/request-context.ts'
import type { Planner } from '../../pipeline/plan/plan.ts'
import type { Admission, WatchedAdmission } from '../../pipeline/run/admission.ts'
import type { Runner } from '../../pipeline/run/run.ts'
import type { Derivations } from '../../service/derivatives/derivations.ts'

/** Adds spans to the parts of a transformation. */
export interface TracedTransforms {
  /** `plan`, the time in which a plan is made from a query. */
  planner(plan: Planner): Planner
  /** `turn`, the wait for a turn. */
  admission(admit: WatchedAdmission): WatchedAdmission
  /** `render`: decoding, all steps and encoding, which overlap in one pass. @param process `own` or `child` */
  runner(run: Runner, process: string): Runner
  /** `derive`, until the derivative can be sent: also of a caller that waits for the render of another one. */
  derivations(derivations: Derivations): Derivations
}

/** @param tracing undefined: nothing is added */
export function tracedTransforms(tracing: Tracing | undefined): TracedTransforms {
  if (!tracing) {
    const same = <T>(part: T) => part
    return { planner: same, admission: same, runner: same, derivations: same }
  }
  return {
    planner: (plan) => (input) => tracing.within('plan', {}, () => plan(input)),
    admission(admit) {
      const traced: Admission = async (work, wish) => {
        const parent = sampledTrace()
        if (!parent) return admit(work, wish)
        const turn = tracing.begin('turn', { parent, attributes: { 'sluice.memory_bytes': wish.bytes } })
        let hasCome = false
        try {
          return await admit((spent) => {
            hasCome = true
            turn.end()
            return work(spent)
          }, wish)
        } catch (error) {
          if (!hasCome) turn.end({ error })
          throw error
        }
      }
      return Object.assign(traced, { load: admit.load })
    },
    runner: (run, process) => (plan, source, context) => {
      const attributes = {
        'sluice.process': process,
        'sluice.variant': plan.variant,
        'sluice.plugins': plan.steps.map(({ plugin }) => plugin.name),
        'sluice.source.media_type': source.mediaType,
        'sluice.source.bytes': source.size,
      }
      return tracing.within('render', { attributes }, () => run(plan, source, context))
    },
    derivations: (derivations) => ({
      ...derivations,
      derive: (request) =>
        tracing.within('derive', { attributes: { 'sluice.variant': request.plan.variant } }, () =>
          derivations.derive(request),
        ),
    }),
  }
}
