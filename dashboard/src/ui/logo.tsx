import { COMMON } from '../texts/common.ts'
import file from './icon.svg'

// Next to the script: the page itself may have any path.
const icon = new URL(file, import.meta.url).href

/** The mark and the name of the product. */
export function Logo() {
  return (
    <span className="inline-flex items-center gap-2.5 font-semibold text-lg tracking-tight">
      <img src={icon} alt="" width={28} height={28} className="size-7" />
      {COMMON.product}
    </span>
  )
}
