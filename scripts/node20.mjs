/** What vitest 5 expects of newer Nodes and Node 20 lacks: without it, a failing test hides behind a reporter crash. */
if (Map.groupBy === undefined) {
  Map.groupBy = (items, keyOf) => {
    const groups = new Map();
    let index = 0;
    for (const item of items) {
      const key = keyOf(item, index);
      index += 1;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [item]);
      else group.push(item);
    }
    return groups;
  };
}
