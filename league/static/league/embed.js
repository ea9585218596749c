// A replay in a frame of another site: the link back leads to the step that is shown.
const back = document.querySelector("#back"), replay = document.querySelector("tute-replay");
replay?.addEventListener("step", () => { back.href = replay.link(); });
