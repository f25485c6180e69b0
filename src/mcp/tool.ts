import type { Static, TObject } from 'typebox'
import type { StatsSource } from '../stats/source.ts'

/** One tool: its description for assistants, the shapes of its input and its answer, and its code. */
export interface Tool<Input extends TObject = TObject> {
  name: string
  title: string
  description: string
  input: Input
  output: TObject
  run(input: Static<Input>, call: Call): Promise<ToolAnswer>
}

/** Keeps the type of the input. */
export const tool = <const Input extends TObject>(definition: Tool<Input>): Tool => definition as unknown as Tool

/** The context of one call. */
export interface Call {
  source: StatsSource
  /** UTC milliseconds. */
  now: number
  signal: AbortSignal
}

/** The answer as text and as structured content: many assistants read only one of the two. */
interface ToolAnswer {
  data: Record<string, unknown>
  text: string
}
