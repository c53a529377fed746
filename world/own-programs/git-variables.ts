/** Settings of git for one process, as git takes them from its environment: above those of every file. */
export const gitVariables = (
  settings: readonly (readonly [name: string, value: string])[],
): Record<string, string> => ({
  GIT_CONFIG_COUNT: String(settings.length),
  ...Object.fromEntries(
    settings.flatMap(([name, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, name],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
});
