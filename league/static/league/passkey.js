// Logs in with a passkey, or adds one. Without this file the form stays hidden, and the password serves.
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (sign) => sign.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

async function send(form, answer) {
  const body = new FormData(form);
  if (answer) body.set("answer", JSON.stringify(answer));
  const response = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
  const isJson = (response.headers.get("Content-Type") || "").startsWith("application/json");
  if (!isJson) throw new Error(form.dataset.failed);
  const data = await response.json();
  if (data.error) throw new Error(data.error);
  return data;
}

function opened(options) {
  options.challenge = bytes(options.challenge);
  if (options.user) options.user.id = bytes(options.user.id);
  for (const name of ["allowCredentials", "excludeCredentials"]) {
    for (const key of options[name] || []) key.id = bytes(key.id);
  }
  return { publicKey: options };
}

function packed(key) {
  const response = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (key.response[name]) response[name] = text(key.response[name]);
  }
  return { id: key.id, rawId: text(key.rawId), type: key.type, response, clientExtensionResults: {} };
}

async function ask(form) {
  const options = await send(form);
  if (options.next) return options;
  const key = await navigator.credentials[form.dataset.passkey](opened(options));
  return send(form, packed(key));
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const site = form.dataset.site;
  if (!window.PublicKeyCredential || (location.hostname !== site && !location.hostname.endsWith(`.${site}`))) continue;
  form.hidden = false;
  const output = form.querySelector("output");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    output.textContent = "";
    try {
      location.assign((await ask(form)).next);
    } catch (error) {
      const isBrowser = error instanceof DOMException;
      output.textContent = isBrowser && error.name === "InvalidStateError" ? form.dataset.known : isBrowser ? form.dataset.failed : error.message;
    }
  });
}
