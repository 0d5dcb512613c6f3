import { COMMON } from '../texts/common.ts'
import icon from './icon.svg'

/** The mark and the name of the product. */
export function Logo() {
  return (
    <span className="inline-flex items-center gap-2.5 font-semibold text-lg tracking-tight">
      <img src={icon} alt="" width={28} height={28} className="size-7" />
      {COMMON.product}
    </span>
  )
}
