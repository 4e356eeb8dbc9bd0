import type { Cell } from '../../kernel/csv.ts'

/** A place in a file where a row begins. */
export interface Position {
  offset: number
  line: number
}

/** One record of a file, as text. */
export interface Row {
  /** Where it begins, for people. */
  line: number
  /** Where the next one begins. */
  end: Position
  /** In the order of the columns; null where there is nothing. */
  cells: Cell[]
  /** What keeps it from being read at all. */
  broken?: string
}

/** Reads a file piece by piece, from a row on. What is left over waits for the next piece. */
export interface RowReader {
  push(bytes: Buffer): Row[]
  /** The rest, when there are no more pieces. */
  end(): Row[]
  /** Set when the file cannot be read any further; rows that were read before it are right. */
  readonly fault?: UnreadableFile | undefined
}

/** The file cannot be read any further. */
export class UnreadableFile extends Error {}

// The largest legitimate row has a few texts of 10,000 characters and lists of 100 addresses.
export const mostRowBytes = 1_048_576
