/** What is said of executors wherever they appear; the rest is with their own pages. */
export const executors = {
  title: "Executors",
  moreInstances: (n: number) => `and ${n} more instances: servers refuse a group with more than 1,000`,
  onlineCount: (n: number) => `${n} online`,
  states: {
    online: "Online",
    draining: "Draining",
    cordoned: "Cordoned",
    lost: "Lost",
    incompatible: "Incompatible",
    empty: "Empty",
  } as Record<string, string>,
};
