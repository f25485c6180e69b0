/** The reason why a site cannot be moved now, for the person who runs the command. */
export class CannotMove extends Error {}
